package term

import "github.com/signalbox/signalbox/pkg/base/sanitize"

// Style is the two digits of an SGR code. Painting makes every text longer by the same
// number of bytes, so that columns stay aligned.
type Style string

// The styles are named for their meaning.
const (
	Plain Style = "00"
	Bold  Style = "01" // names
	Faint Style = "02" // of little importance
	Bad   Style = "31"
	Good  Style = "32"
	Wait  Style = "33" // waits, or needs a look
	Place Style = "36" // states
)

// Paint returns the text, safe to print, in a style, or plain if the terminal has no
// colours. A painted text may not be painted again.
func (e *Env) Paint(s Style, text string) string {
	text = sanitize.Terminal(text)
	if !e.Colour || text == "" {
		return text
	}
	return s.on(text)
}

func (s Style) on(text string) string { return "\x1b[" + string(s) + "m" + text + "\x1b[00m" }
