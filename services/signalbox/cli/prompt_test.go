package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var marks = regexp.MustCompile(`(?m)^<<<quoted ([A-Z2-7]{26})$`)

func TestPromptShowPrintsTheGoldenFileOfEachPromptThatIsListed(t *testing.T) {
	t.Parallel()
	code, listed := ended(t, "prompt", "ls", "--json")
	if code != 0 {
		t.Fatalf("ls ended with %d: %s", code, listed)
	}
	rows := json.NewDecoder(strings.NewReader(listed))
	seen := map[string]bool{}
	for rows.More() {
		var row promptRow
		if err := rows.Decode(&row); err != nil {
			t.Fatal(err)
		}
		if seen[row.Name] {
			continue
		}
		seen[row.Name] = true
		golden, err := os.ReadFile(filepath.Join("..", "..", "..", "pkg", "agent", "brain", "prompt", "testdata", "golden", row.Name+".txt"))
		if err != nil {
			t.Error(err)
			continue
		}
		var shown shownPrompt
		_, out := ended(t, "prompt", "show", row.Name, "--json")
		if err := json.Unmarshal([]byte(out), &shown); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if m := marks.FindStringSubmatch(shown.Text); m == nil || strings.ReplaceAll(shown.Text, m[1], "MARK") != string(golden) {
			t.Errorf("%s is not as its golden file has it: go test ./pkg/agent/brain/prompt", row.Name)
		}
	}
	if len(seen) < 30 {
		t.Errorf("there are %d prompts", len(seen))
	}
}
