package allinone

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// installed has programs of these names alone in PATH.
func installed(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestACodingAgentThatIsNotInstalledIsTheDevelopersAlone(t *testing.T) {
	installed(t)
	a := Agents{Brain: []string{"developer=exec:claude"}}
	if got := a.Settings().Brain; !slices.Equal(got, a.Brain) {
		t.Errorf("the brains are %q: a refusal would name one that nobody gave", got)
	}
}

func TestTheAnalystHasTheDevelopersCodingAgentByDefault(t *testing.T) {
	installed(t, "claude", "codex")
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
