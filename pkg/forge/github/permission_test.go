package github_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge/github"
)

func TestThePageSaysWhatTheAppMayDo(t *testing.T) {
	page, err := os.ReadFile("../../../docs/github.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := "<!-- permissions -->\n| permission | access | what for |\n|---|---|---|\n"
	for _, n := range github.Needs() {
		access := n.Access
		if n.Optional {
			access += ", optional"
		}
		rows += fmt.Sprintf("| `%s` | %s | %s |\n", n.Name, access, n.For)
	}
	for _, want := range []string{rows + "<!-- end -->\n", "<!-- events -->\n`" + strings.Join(github.Events(), "`, `") + "`\n<!-- end -->\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/github.md does not have\n%s", want)
		}
	}
}

func TestAPermissionIsSatisfiedByWhatIncludesIt(t *testing.T) {
	for access, want := range map[string]bool{"": false, "read": false, "write": true, "admin": true} {
		if got := (github.Need{Access: "write"}).Satisfies(access); got != want {
			t.Errorf("write by %q: %t", access, got)
		}
	}
}
