// Package pipelinerole joins the pipeline's document to the roles that work on it. It has
// the document as a file and in results, and brains by rule that write its sections. A
// service's main gives it to its role.
package pipelinerole

import (
	"encoding/json"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Document is the pipeline's document. It implements role.Document.
type Document struct{ pipeline.Documents }

// Broken lists what a change does not respect of what the analysis forbids.
func (Document) Broken(a work.Assignment, files []work.FileChange) []string {
	return pipeline.Broken(a, files)
}

// Complete adds to a result what the role's section lacks.
func (Document) Complete(a work.Assignment, files []work.FileChange, r instance.Result) (instance.Result, error) {
	return pipeline.Complete(a, files, r)
}

// Brain is what the role thinks with when it is given nothing; nil: the document
// has no rules for it.
func (Document) Brain(role string) brain.Brain {
	switch role {
	case "triage":
		return Triage{}
	case "analyst":
		return rules.ByDocument{Section: "analysis", With: Brief{}, Else: rules.Analyst{}}
	case "reviewer":
		return Reviewer{}
	}
	return nil
}

// wrote is a result that writes a section.
func wrote(r instance.Result, section string, value any) (work.Outcome, error) {
	text, err := json.Marshal(value)
	r.Sections = map[string]string{section: string(text)}
	return work.Outcome{Result: r, Declared: true}, err
}
