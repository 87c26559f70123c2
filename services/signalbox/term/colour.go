package term

// Style is how a text looks on a terminal: two digits of an SGR code, so that
// all painted texts grow by the same number of bytes and columns stay aligned.
type Style string

// Styles say what something is, not what it looks like.
const (
	Plain Style = "00"
	Bold  Style = "01" // names
	Faint Style = "02" // what may be skipped
	Bad   Style = "31"
	Good  Style = "32"
	Wait  Style = "33" // waits, or needs a look
	Place Style = "36" // states
)

// Paint returns the text in a style, or as it is where there are no colours.
func (e *Env) Paint(s Style, text string) string {
	if !e.Colour || text == "" {
		return text
	}
	return s.on(text)
}

func (s Style) on(text string) string { return "\x1b[" + string(s) + "m" + text + "\x1b[00m" }
