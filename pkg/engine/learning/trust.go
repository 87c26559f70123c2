package learning

import (
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Trusted reports whether in an instance only people spoke who may write to its
// repository: who reported it, and who commented. It needs all of its commits. Remarks
// that are in no prompt do not count. An instance that a person with an account opened
// without an issue of the forge counts as that person's text. Else, where nobody asked for a permission, it
// is false.
func Trusted(commits []instance.Commit) bool {
	opened := false
	for _, c := range commits {
		for _, e := range c.Events {
			switch e := e.(type) {
			case instance.Opened:
				if !instance.MayWrite(e.Issue.Permission) && !byPerson(c.Actor, e.Issue) {
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

// byPerson reports whether a person with an account reported an issue that is on no forge.
// The orchestrator attests such an actor, and lets no agent and no gateway be one.
func byPerson(actor string, i instance.Issue) bool {
	name, is := strings.CutPrefix(actor, "operator:")
	return is && name != "" && i.Number == 0 && i.Author == "" && i.URL == "" && i.Permission == ""
}

// operator reports whether a person of the command line sent a signal.
func operator(e instance.Signalled) bool {
	is, err := strconv.ParseBool(e.Data["operator"])
	return err == nil && is
}
