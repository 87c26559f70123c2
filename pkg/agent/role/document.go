package role

import (
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Document is the document of a lifecycle that has one. A service's main gives it
// to the role. Its methods leave assignments of other lifecycles alone.
type Document interface {
	exec.Documents

	// Broken lists what the change does not respect of what the document forbids.
	// Such a change does not leave the work tree.
	Broken(a work.Assignment, files []work.FileChange) []string
	// Complete adds to a result what the role's section lacks. An error says what
	// the brain owes; it is a failure of the work.
	Complete(a work.Assignment, files []work.FileChange, r instance.Result) (instance.Result, error)
	// Brain is what the role thinks with when it is given nothing; nil: the document
	// has no rules for it.
	Brain(role string) brain.Brain
}

// changes lists the files of a change.
func changes(diff workspace.Diff) (files []work.FileChange) {
	for _, f := range diff.Files {
		files = append(files, work.FileChange{Path: f.Path, Status: f.Status})
	}
	return files
}
