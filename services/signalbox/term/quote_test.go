package term_test

import (
	"os/exec"
	"testing"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestAShellReadsWhatIsQuotedAsOneWord(t *testing.T) {
	for _, word := range []string{"plain", "two words", "it's", "$(true)", "a\\b", "`x`", "", "-x;y"} {
		got, err := exec.Command("sh", "-c", "printf %s "+term.Quote(word)).Output()
		if err != nil || string(got) != word {
			t.Errorf("%q is read as %q, %v", word, got, err)
		}
	}
}
