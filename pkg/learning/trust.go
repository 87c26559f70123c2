package learning

import (
	"strconv"

	"github.com/signalbox/signalbox/pkg/instance"
)

// Trusted reports whether in an instance only people spoke who may write to its
// repository: who reported it, and who commented. It needs all of its commits. Remarks
// that are in no prompt do not count. Where nobody asked for a permission it is false.
func Trusted(commits []instance.Commit) bool {
	opened := false
	for _, c := range commits {
		for _, e := range c.Events {
			switch e := e.(type) {
			case instance.Opened:
				if !instance.MayWrite(e.Issue.Permission) {
					return false
				}
				opened = true
			case instance.Signalled:
				if e.Data["body"] != "" && e.Name != instance.Remarked && !instance.MayWrite(e.Data["permission"]) && !operator(e) {
					return false
				}
			}
		}
	}
	return opened
}

// operator reports whether a person of the command line sent a signal.
func operator(e instance.Signalled) bool {
	is, err := strconv.ParseBool(e.Data["operator"])
	return err == nil && is
}
