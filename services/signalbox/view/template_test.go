package view

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/prompt"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// noted returns an agent's note that templates cannot be used.
func noted(used string, wrong ...string) instance.NoteEntry {
	return instance.NoteEntry{Author: "developer/d-1", Kind: prompt.NoteKind, Text: prompt.NoteText(used, errors.New(strings.Join(wrong, "\n")))}
}

func TestAnExplanationNamesTheTemplatesThatAreNotUsed(t *testing.T) {
	def, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	const (
		shipped  = "shipped/developer.tmpl (shipped)"
		own      = ".signalbox/prompts/developer.tmpl"
		first    = own + ":3: missing value for if"
		second   = own + ":4:7: at .Isue: can't evaluate field Isue in type prompt.Data"
		testers  = ".signalbox/prompts/tester.tmpl:1:3: at .X: can't evaluate field X in type prompt.Data"
		operator = "/etc/prompts/developer.tmpl: the prompt is larger than 2097152 bytes"
		correct  = "Correct it on the branch that work starts from: issues taken up afterwards use it. " +
			"`signalbox prompt ls --repo DIR` checks the templates at the HEAD of a clone."
	)
	for name, c := range map[string]struct {
		notes []instance.NoteEntry
		want  []string // what is wrong, in this order
		says  []string
	}{
		"none without a note":  {},
		"none for other notes": {notes: []instance.NoteEntry{{Kind: "comment", Text: noted(shipped, first).Text}}},
		"none for a person's note of that kind": {
			notes: []instance.NoteEntry{{Author: "operator:bob", Kind: prompt.NoteKind, Text: "developer.tmpl:3: says nothing of cents"}}},
		"one of a repository, with what to do": {notes: []instance.NoteEntry{noted(shipped, first)}, want: []string{first},
			says: []string{"  templates    A template is not used: " + first + "\n               " + shipped + " is in its place. " + correct + "\n"}},
		"one of the operator, with what to do": {notes: []instance.NoteEntry{noted(shipped, operator)}, want: []string{operator},
			says: []string{"A template is not used: " + operator + "\n", "Correct it in the directory of --prompts, and restart what runs with it.\n"}},
		"each of one note": {notes: []instance.NoteEntry{noted(shipped, operator, first)}, want: []string{operator, first},
			says: []string{"               A template is not used: " + first + "\n"}},
		"each of several notes": {notes: []instance.NoteEntry{noted(shipped, first), noted(shipped, testers)}, want: []string{first, testers}},
		"by the newest word on a file": {
			notes: []instance.NoteEntry{noted("x", first), noted("y", testers), noted(shipped, second)}, want: []string{testers, second}},
	} {
		t.Run(name, func(t *testing.T) {
			in := Instance{Instance: "a/1", State: "implementing", Kind: workflow.Work, Owner: "developer", Notes: c.notes}
			env, out := screen(0)
			e := Explain(env, def, in)
			if err := e.Print(env, true); err != nil {
				t.Fatal(err)
			}
			var wrong []string
			for _, one := range e.Templates {
				wrong = append(wrong, one.Wrong)
				if !strings.HasPrefix(one.Wrong, one.File+":") || one.Used != shipped && one.Used != "y" {
					t.Errorf("%+v", one)
				}
			}
			if !slices.Equal(wrong, c.want) || strings.Count(out.String(), "A template is not used") != len(c.want) {
				t.Errorf("%q are not used, want %q, in\n%s", wrong, c.want, out)
			}
			for _, says := range c.says {
				if !strings.Contains(out.String(), says) {
					t.Errorf("no %q in\n%s", says, out)
				}
			}
			in.Closed = instance.Ended
			if n := len(Explain(env, def, in).Templates); n != len(c.want) {
				t.Errorf("when it has ended, %d are not used, want %d", n, len(c.want))
			}
		})
	}
	t.Run("as a list in JSON", func(t *testing.T) {
		for want, notes := range map[string][]instance.NoteEntry{
			`"templates":[]`: nil,
			`"templates":[{"template":"` + own + `","wrong":"` + first + `","used":"` + shipped + `"}]`: {noted(shipped, first)},
		} {
			env, out := screen(0)
			env.JSON = true
			if err := Explain(env, def, Instance{Closed: instance.Ended, Notes: notes}).Print(env, true); err != nil ||
				!strings.Contains(out.String(), want) {
				t.Errorf("%s, %v, want %s", out, err, want)
			}
		}
	})
	t.Run("without what steers the terminal, and cut", func(t *testing.T) {
		env, out := blank()
		in := Instance{State: "implementing", Notes: []instance.NoteEntry{noted(hostile, first+" "+hostile, testers+strings.Repeat(" and more", 1000))}}
		if err := Explain(env, def, in).Print(env, true); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if steers(text) || strings.Count(text, "title") != 3 || !strings.Contains(text, first+" x‹U+001B›]0;title‹U+0007›") || len(text) > 8000 {
			t.Errorf("it says %q", text)
		}
	})
}
