package view

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/prompt"
)

// Template is a template of prompts that is not used, because something is wrong with it.
type Template struct {
	File  string `json:"template"`
	Wrong string `json:"wrong"` // file, mostly line, and what is wrong there
	Used  string `json:"used"`  // what the prompt was made from instead
}

// templates returns what the newest note says of each template that is not used, the
// newest last. A repository's are of the base, which an instance keeps, so a note holds to
// the end.
func (in Instance) templates() []Template {
	all := []Template{}
	for _, n := range in.Notes {
		if n.Kind != prompt.NoteKind {
			continue
		}
		for _, r := range prompt.Refusals(n.Text) {
			all = slices.DeleteFunc(all, func(t Template) bool { return t.File == r.File })
			all = append(all, Template(r))
		}
	}
	return all
}

// maxWrong is how many characters are shown of what is wrong with a template.
const maxWrong = 300

// templates writes of each template what is wrong with it, and what to do.
func (p page) templates(all []Template) {
	for i, t := range all {
		name := ""
		if i == 0 {
			name = "templates"
		}
		remedy := "Correct it in the directory of --prompts, and restart what runs with it."
		if strings.HasPrefix(t.File, prompt.Dir+"/") {
			remedy = "Correct it on the branch that work starts from: issues taken up afterwards use it. " +
				"`signalbox prompt ls --repo DIR` checks the templates at the HEAD of a clone."
		}
		p.field(name, "A template is not used: "+cut(t.Wrong, maxWrong)+"\n"+cut(t.Used, maxWrong)+" is in its place. "+remedy)
	}
}
