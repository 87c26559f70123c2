package exec

import (
	"bytes"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// inFile returns the result of a result file: the whole text, or the object at its end or in
// a code fence if the text is no JSON by itself.
func inFile(text []byte) []byte {
	plain := brain.Plain(text)
	if len(plain) == 0 || bytes.IndexByte([]byte(`{["`), plain[0]) >= 0 {
		return plain
	}
	if object := lastObject(string(plain), len(plain)); object != nil {
		return object
	}
	if object := fenced(string(plain), len(plain)); object != nil {
		return object
	}
	return plain
}

// block matches a code fence of a message that has an object.
var block = lazyregexp.New("(?s)```(?:json)?[ \\t]*\\n[ \\t]*(\\{.*?\\})[ \\t\\n]*```")

// fenced returns the object of the last code fence of a text that is a result. It reads the
// last most bytes.
func fenced(text string, most int) []byte {
	for _, m := range slices.Backward(block.FindAllStringSubmatch(text[max(len(text)-most, 0):], -1)) {
		if object := lastObject(m[1], most); object != nil {
			return object
		}
	}
	return nil
}

// prose returns a text without code fences that have an object.
func prose(text string) string { return strings.TrimSpace(block.ReplaceAllString(text, "")) }

// footer matches a line that says nothing of the work: a trailer of a commit message, the
// signature of a tool, a rule, the mark of a code fence.
var footer = lazyregexp.New(`(?i)^[\s>*_]*(?:` +
	`(?:co-authored|signed-off|reviewed|acked|tested|reported|suggested|assisted|generated|helped)-by:.*` +
	`|(?:change-id|signalbox-[a-z-]+):.*` +
	`|\W*(?:generated|created|made|written|committed) (?:with|by|using) .*` +
	`|[-=_*~` + "`" + `\s]*(?:json|text)?` +
	`)$`)

// withoutFooters returns a text without the footers that it begins and ends with.
func withoutFooters(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for len(lines) > 0 && footer.MatchString(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && footer.MatchString(lines[0]) {
		lines = lines[1:]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
