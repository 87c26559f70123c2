package workspace

import "testing"

func TestAPatternOfWhatIsLeftCountsUnlessAFileOfTheCommitIsCovered(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		covered       bool
	}{
		{"/.claude/", ".claude/settings.json", true},
		{"/.claude/", ".claude", false}, // a file, and the pattern is of a directory
		{"/.claude/", "docs/.claude/settings.json", false},
		{"/.aider*", ".aider.conf.yml", true},
		{"/.aider*", "docs/.aider.conf.yml", false},
		{"node_modules", "web/node_modules/left-pad/index.js", true},
		{"node_modules", "web/node_modules", true},
		{"__pycache__/", "src/__pycache__/a.pyc", true},
		{"__pycache__/", "src/__pycache__", false},
		{"*.orig", "src/main.go.orig", true},
		{"*.orig", "src/main.original", false},
		{".env", ".env", true},
		{".env", "deploy/.env/production", true},
		{".env", "deploy/a\t.env", false},
	} {
		covered := false
		for element := range elements("100644 blob 0123\t" + c.file + "\x00") {
			covered = covered || covers(c.pattern, element)
		}
		if covered != c.covered {
			t.Errorf("%s covers %q: %t, want %t", c.pattern, c.file, covered, c.covered)
		}
	}
}
