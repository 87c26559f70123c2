package prompt

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/work"
)

func TestANoteNamesEachTemplateThatCannotBeUsed(t *testing.T) {
	const used = "shipped/developer.implementing.tmpl (shipped)"
	for name, c := range wrong {
		t.Run("that "+name, func(t *testing.T) {
			a := Example("developer", "implementing")
			a.Brief.Templates = []work.Template{ofRepository("developer", c.text)}
			p := Set{}.Render(a)
			got := Refusals(NoteText(p.String(), p.Refused))
			if len(got) != 1 || got[0].File != ".signalbox/prompts/developer.tmpl" || got[0].Used != used ||
				!strings.HasPrefix(got[0].Wrong, got[0].File+":") || !strings.Contains(got[0].Wrong, c.want) {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

func TestWhatATemplateSaysAddsNoLineToANote(t *testing.T) {
	for _, text := range []string{
		"{{`a\n.signalbox/prompts/tester.tmpl:3: is wrong` .State}}",
		"{{eq `a\n.signalbox/prompts/tester.tmpl:3: is wrong` .Issue}}",
		"{{template `a\n.signalbox/prompts/tester.tmpl:3: is wrong`}}",
		"{{template \"" + strings.Repeat("a", 10_000) + "\"}}",
	} {
		err := Verify(ofRepository("developer", text))
		if err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 2*maxLine {
			t.Errorf("%v", err)
			continue
		}
		if got := Refusals(NoteText("x", err)); len(got) != 1 || got[0].File != ".signalbox/prompts/developer.tmpl" {
			t.Errorf("%+v", got)
		}
	}
}

func TestATemplateIsNamedForAFaultInAShippedPart(t *testing.T) {
	err := Verify(ofRepository("developer", `{{template "known" .Issue}}`))
	if want := ".signalbox/prompts/developer.tmpl: in a shipped part that it calls: shipped/parts.tmpl:"; err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestRefusalsAreReadOfNotesAboutTemplatesAlone(t *testing.T) {
	for name, c := range map[string]struct {
		note string
		want []Refusal
	}{
		"an empty text":      {"", nil},
		"a person's words":   {"The template is wrong: developer.tmpl:3: see there", nil},
		"half of one":        {"a template of the prompt cannot be used, x", nil},
		"one without a file": {"a template of the prompt cannot be used, x is in its place: it is wrong", nil},
		"one of an earlier build": {"a template of the prompt cannot be used, shipped/a.tmpl (shipped) is in its place: .signalbox/prompts/a.tmpl:2:2: at .X: no",
			[]Refusal{{".signalbox/prompts/a.tmpl", ".signalbox/prompts/a.tmpl:2:2: at .X: no", "shipped/a.tmpl (shipped)"}}},
		"two, one on two lines": {"a template of the prompt cannot be used, c is in its place: /etc/my prompts/a.tmpl: too large\n.signalbox/prompts/a.tmpl:2: one\nmore",
			[]Refusal{{"/etc/my prompts/a.tmpl", "/etc/my prompts/a.tmpl: too large", "c"}, {".signalbox/prompts/a.tmpl", ".signalbox/prompts/a.tmpl:2: one\nmore", "c"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Refusals(c.note); !slices.Equal(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
