package outbound

import (
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// VerdictTrailer is the key of the line of a commit's message that says whether a test shows
// the work to be right.
const VerdictTrailer = "Signalbox-Verdict"

var trailer = lazyregexp.New(`(?im)^[\s>*+-]*signalbox-[a-z-]+\s*:`)

// StatesTrailer reports whether a message has a line that looks like a trailer of Signalbox.
// Only the services of Signalbox may write one.
func StatesTrailer(message string) bool { return trailer.MatchString(message) }
