package view

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestAPageAndAnExplanationSayWhichConfigurationIsInForce(t *testing.T) {
	def, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	const file, commit, wrong = "acme/widgets:.signalbox/config.yaml", "0123456789abcdef", "it is wrong, and nothing is in force:\nconfig.yaml:2: \x1b[2Jwant"
	for name, c := range map[string]struct {
		config *instance.Configuration
		want   string
	}{
		"none without a file":    {},
		"one":                    {&instance.Configuration{File: file, Commit: commit}, "  configured   by " + file + " at 0123456789ab\n"},
		"one, and a wrong newer": {&instance.Configuration{File: file, Commit: commit, Problem: wrong}, "0123456789ab\n               it is wrong, and nothing"},
		"a wrong one alone":      {&instance.Configuration{Problem: wrong}, "  configured   it is wrong, and nothing is in force:\n"},
	} {
		t.Run(name, func(t *testing.T) {
			in := Instance{Instance: "a/1", State: "implementing", Kind: workflow.Work, Owner: "developer", Issue: instance.Issue{Config: c.config}}
			for what, printed := range map[string]func(*term.Env) error{
				"the page":        func(env *term.Env) error { return Page(env, in) },
				"the explanation": func(env *term.Env) error { return Explain(env, def, in).Print(env, true) },
			} {
				env, out := screen(0)
				if err := printed(env); err != nil {
					t.Fatal(err)
				}
				if said := out.String(); !strings.Contains(said, c.want) || c.want == "" && strings.Contains(said, "configured") || strings.Contains(said, "\x1b[2J") {
					t.Errorf("%s says %q, want %q", what, said, c.want)
				}
			}
		})
	}
}
