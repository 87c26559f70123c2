package term

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:@%+=,-]+$`)

// Quote returns a word as a shell reads it, for commands that people copy.
func Quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
