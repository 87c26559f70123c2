package instance_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestAPatternOfRepositoriesMatchesWhatItSays(t *testing.T) {
	for _, c := range []struct {
		pattern, repo string
		want          bool
	}{
		{"acme/widgets", "acme/widgets", true},
		{"Acme/Widgets", "acme/widgets", true},
		{"acme/widgets", "acme/gears", false},
		{"acme/*", "acme/widgets", true},
		{"acme/*", "acme/a/b", false},
		{"acme/*", "other/widgets", false},
		{"*/*", "acme/widgets", true},
		{"acme/web-?", "acme/web-1", true},
		{"*/*", "", false},
	} {
		if err := instance.CheckRepositories(c.pattern); err != nil {
			t.Error(err)
		}
		if got := instance.InRepositories(c.pattern, c.repo); got != c.want {
			t.Errorf("%s matches %q: %t", c.pattern, c.repo, got)
		}
	}
	for pattern, want := range map[string]string{
		"acme":     `"acme" is no repository: want OWNER/NAME, or a pattern such as acme/*; did you mean acme/*?`,
		"acme/":    "did you mean acme/*?",
		"acme/a/b": "want OWNER/NAME",
		"/a":       "want OWNER/NAME",
		"":         "want OWNER/NAME",
		"acme/[":   `"acme/[" is no pattern`,
	} {
		if err := instance.CheckRepositories(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v", pattern, err)
		}
	}
}
