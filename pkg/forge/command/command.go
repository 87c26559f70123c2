// Package command reads commands to Signalbox from comments in Markdown. It does no I/O.
package command

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/markdown"
)

// Command is a command as it was written.
type Command struct {
	Verb  string // in lower case; "" if the line has none
	Words string // what follows; of Answer also the lines below
}

// Key identifies a command within its comment. The same again has the same key.
func (c Command) Key() string {
	sum := sha256.Sum256([]byte(c.Verb + "\x00" + strings.Join(strings.Fields(c.Words), " ")))
	return hex.EncodeToString(sum[:6])
}

// hidden matches what people do not see in a line.
var hidden = lazyregexp.New(`(?s)<!--.*?(?:-->|$)`)

// MaxRead is how much of a comment is read for commands, in bytes. The text below is the rest of
// an answer, or of the comment.
const MaxRead = 8 << 10

// Calls reports whether a comment may have a command: a line of its first MaxRead bytes
// begins with /name. It parses nothing.
func Calls(name, comment string) bool {
	if name == "" {
		return false
	}
	for line := range strings.Lines(comment[:min(len(comment), MaxRead)]) {
		if _, ok := called(name, strings.TrimRight(line, "\r\n")); ok {
			return true
		}
	}
	return false
}

// read returns the beginning of a comment that is read for commands. It ends where a
// paragraph ends, so that code and links which begin in it end in it.
func read(comment string) string {
	if len(comment) > MaxRead {
		if i := strings.Index(comment[MaxRead:], "\n\n"); i >= 0 {
			return comment[:MaxRead+i]
		}
	}
	return comment
}

// Check returns markdown.ErrComplex if a comment is too complex to be read for commands.
func Check(comment string) error {
	_, err := markdown.Parse([]byte(read(strings.ReplaceAll(comment, "\r\n", "\n"))))
	return err
}

// Parse returns the commands of a comment, each once, and the comment without them. A
// command is /name as the first word of a line of ordinary text: none is in code, in a
// quote, or in HTML. An answer goes on to the next command, or to the end. Commands are
// looked for in the first MaxRead bytes. A comment that is too complex to be parsed has none.
func Parse(name, comment string) (commands []Command, rest string) {
	comment = strings.ReplaceAll(comment, "\r\n", "\n")
	if !Calls(name, comment) {
		return nil, comment
	}
	live := starts(read(comment))
	kept, answering := []string{}, false // answering: the last command is an answer, and goes on
	at := 0
	for line := range strings.Lines(comment) {
		words, ok := called(name, line)
		start := at + len(line) - len(strings.TrimLeft(line, " "))
		at += len(line)
		switch {
		case ok && live[start]:
			verb, words := first(hidden.ReplaceAllString(words, ""))
			commands = append(commands, Command{strings.ToLower(verb), words})
			answering = commands[len(commands)-1].Verb == Answer
			line = "\n"
		case answering:
			commands[len(commands)-1].Words += "\n" + strings.TrimSuffix(line, "\n")
			line = "\n"
		}
		kept = append(kept, line)
	}
	var each []Command
	for _, c := range commands {
		c.Words = strings.TrimSpace(c.Words)
		if !slices.ContainsFunc(each, func(o Command) bool { return o.Key() == c.Key() }) {
			each = append(each, c)
		}
	}
	return each, strings.Join(kept, "")
}

// called returns what follows /name, if that is the first word of the line.
func called(name, line string) (words string, ok bool) {
	line = strings.TrimRight(line, "\n")
	bare := strings.TrimLeft(line, " ")
	head := "/" + name
	if len(line)-len(bare) > 3 || len(bare) < len(head) || !strings.EqualFold(bare[:len(head)], head) {
		return "", false
	}
	words = bare[len(head):]
	if r, _ := utf8.DecodeRuneInString(words); words != "" && !unicode.IsSpace(r) {
		return "", false
	}
	return words, true
}

// first returns the first word, and what follows it.
func first(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// starts returns where pieces of ordinary text begin in Markdown: text that is in a
// paragraph or a heading, and in no quote.
func starts(source string) map[int]bool {
	found := map[int]bool{}
	doc, err := markdown.Parse([]byte(source))
	if err != nil {
		return nil
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker has no error
		switch n.Kind() {
		case ast.KindBlockquote, ast.KindCodeSpan, ast.KindLink, ast.KindImage, ast.KindRawHTML:
			return ast.WalkSkipChildren, nil
		case ast.KindText:
			switch n.Parent().Kind() {
			case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
				found[n.(*ast.Text).Segment.Start] = true
			}
		}
		return ast.WalkContinue, nil
	})
	return found
}
