package prompt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

const (
	// MaxQuoted limits the bytes that a prompt quotes of one text.
	MaxQuoted = 32 << 10
	// maxFull is how many bytes a prompt has when further texts of others are left out.
	maxFull = 512 << 10
	// maxPage limits the bytes of a prompt.
	maxPage = 2 << 20
	// maxLine limits the characters of a short text.
	maxLine = 1000
)

// errTooLarge means that a template writes too much.
var errTooLarge = fmt.Errorf("the prompt is larger than %d bytes", maxPage)

// errWhole means that a template prints a struct or a list with texts in it, whose marks
// would stand within a line.
var errWhole = errors.New("texts are in what is printed: print its fields, each by itself")

// opening begins the line above what is quoted.
const opening = "<<<quoted "

// Text is what a person or a program wrote. It prints itself between marks that it cannot
// forge, below a line that says who wrote it. Nothing else can be made of it.
type Text struct {
	text, by string
	page     *page
}

// Format implements fmt.Formatter: whatever the verb, the text is quoted.
func (t Text) Format(f fmt.State, _ rune) { t.page.quote(f, t.text, t.by) }

// Line is a short text that a person or a program wrote, such as a name. It prints itself
// as one line in quotation marks.
type Line struct{ text string }

// Format implements fmt.Formatter.
func (l Line) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "%q", oneLine(l.text)) }

// oneLine keeps a short text from starting a line of its own.
func oneLine(s string) string {
	cut := len(s) > 4*maxLine
	if cut {
		s = strings.ToValidUTF8(s[:4*maxLine], "")
	}
	line := []rune(sanitize.TerminalLine(s))
	if cut || len(line) > maxLine {
		return string(line[:min(len(line), maxLine)]) + "…"
	}
	return string(line)
}

// page is a prompt as it is written. It is the writer of its template.
type page struct {
	strings.Builder
	mark    string // of what is quoted: 128 random bits
	entries int    // of a list, at most
	steps   int    // of the template
	quotes  int    // Texts that the next Write has
	quoted  bool   // there is a Text
	ends    int    // newlines at the end
}

// Write implements io.Writer. It leaves out what is more than one empty line.
func (p *page) Write(b []byte) (int, error) {
	if p.Len()+len(b) > maxPage {
		return 0, errTooLarge
	}
	if n := p.quotes; n > 0 {
		p.quotes, p.quoted, p.ends = 0, true, 1
		if begins := strings.TrimPrefix(string(b[:min(len(b), 64)]), "\n"); n > 1 || !strings.HasPrefix(begins, opening+p.mark) {
			return 0, errWhole
		}
		return p.Builder.Write(b)
	}
	for _, c := range b {
		if c != '\n' {
			p.ends = 0
		} else if p.ends++; p.ends > 2 {
			continue
		}
		p.WriteByte(c)
	}
	return len(b), nil
}

// quote writes a text between its marks. Characters that people do not see are named in
// it: ‹U+202E›.
func (p *page) quote(f fmt.State, text, by string) {
	switch over := len(text) - MaxQuoted; {
	case p.Len()+min(len(text), MaxQuoted) > maxFull:
		text = fmt.Sprintf("[… %d bytes left out: the prompt is full …]", len(text))
	case over > 0:
		text = readable(strings.ToValidUTF8(text[:MaxQuoted], "")) + fmt.Sprintf("\n[… %d bytes left out …]", over)
	default:
		text = readable(text)
	}
	if p.Len() > 0 && p.ends == 0 {
		fmt.Fprintln(f)
	}
	p.quotes++
	fmt.Fprintf(f, opening+"%s\n[%s]\n%s\n%s quoted>>>\n", p.mark, oneLine(by), text, p.mark)
}

// readable is a text without what people do not see.
func readable(text string) string { return strings.TrimSpace(sanitize.Terminal(text)) }

// maxSteps limits the parts of a template that are executed, each as often as it is.
const maxSteps = 50_000

// errTooLong means that a template loops.
var errTooLong = errors.New("it takes too long: a loop, or a template that calls itself")

// step counts the parts of the template. It is called at the beginning of each.
func (p *page) step() (string, error) {
	if p.steps++; p.steps > maxSteps {
		return "", errTooLong
	}
	return "", nil
}
