package allinone

import (
	"slices"
	"testing"
)

func TestTheAnalystHasTheDevelopersCodingAgentByDefault(t *testing.T) {
	for name, c := range map[string]struct {
		brain []string
		want  string // the analyst's; empty: nothing is added
	}{
		"a preset":                      {[]string{"developer=exec:claude"}, "analyst=exec:claude"},
		"a preset with flags":           {[]string{"tester=rules", "developer=exec:codex --model m"}, "analyst=exec:codex --model m"},
		"a preset and another":          {[]string{"developer=exec:claude,exec:codex"}, "analyst=exec:claude,exec:codex"},
		"a program":                     {[]string{"developer=exec:./fix.sh"}, ""},
		"a model":                       {[]string{"developer=model:anthropic/NAME"}, ""},
		"an analyst by rule":            {[]string{"developer=exec:claude", "analyst=rules"}, ""},
		"an analyst of its own":         {[]string{"analyst=exec:./a.sh", "developer=exec:claude"}, ""},
		"an analyst of one state":       {[]string{"developer=exec:claude", "analyst.analyzing_requirements=rules"}, ""},
		"no developer":                  {[]string{"tester=exec:claude"}, ""},
		"a developer of one state":      {[]string{"developer.implementing=exec:claude"}, ""},
		"what --brain does not take":    {[]string{"developer=exec:claude", "developer=exec:codex"}, ""},
		"an empty program":              {[]string{"developer=exec:"}, ""},
		"the name of no preset, quoted": {[]string{`developer=exec:["claude"]`}, ""},
	} {
		a := Agents{Brain: c.brain}
		got := a.Settings().Brain
		if c.want == "" {
			if !slices.Equal(got, c.brain) || a.Analyst() != "" {
				t.Errorf("%s: the brains are %q, and it says %q", name, got, a.Analyst())
			}
			continue
		}
		if !slices.Equal(got, append(slices.Clone(c.brain), c.want)) || a.Analyst() == "" {
			t.Errorf("%s: the brains are %q, and it says %q", name, got, a.Analyst())
		}
	}
}
