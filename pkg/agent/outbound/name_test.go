package outbound_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// git refuses most of these names itself, and not where the program writes objects.
func TestANameThatAFileSystemTakesForTheGitDirectoryIsRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		refused bool
	}{
		{".git", true}, {".GIT", true}, {".git.", true}, {".git . ", true}, {"GIT~1", true}, {"git~1.", true},
		{".g\u200cit", true}, {".gi\u200dt", true}, {"\ufeff.git", true}, {".git\u034f", true}, {".g\ufe0fit", true}, {"\u2060.g\u00adit", true},
		{".git::$INDEX_ALLOCATION", true}, {".git:x", true}, {`a\.git\config`, true}, {`.git\config`, true},
		{".github", false}, {".gitignore", false}, {"git", false}, {"x.git", false}, {"git~10", false}, {`a\b`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepository(t)
			r.sh("b=$(git hash-object -w greeting); t=$( { git ls-tree -z main; printf '100644 blob %s\t%s\\0' $b '" + c.name + "'; } | git mktree -z); " +
				"git update-ref refs/heads/work $(git commit-tree -p main -m x $t)")
			gittest.Run(t, r.git, "symbolic-ref", "HEAD", "refs/heads/work")
			_, err := r.push("work", "")
			var refusal *outbound.Refusal
			got := errors.As(err, &refusal) && slices.ContainsFunc(refusal.Findings, func(f outbound.Finding) bool { return f.Rule == "submodule" })
			if got != c.refused || err != nil && refusal == nil {
				t.Errorf("refused %t: %v", got, err)
			}
			if c.refused && !strings.Contains(err.Error(), "a repository within the repository") {
				t.Errorf("it says %v", err)
			}
		})
	}
}
