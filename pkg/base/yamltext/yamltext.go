// Package yamltext reads YAML that strangers wrote. A parser of YAML takes minutes
// and gigabytes for some texts of a few hundred kilobytes, so such texts are refused
// before they are parsed.
package yamltext

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// The limits of a text.
const (
	MaxBytes  = 1 << 20
	MaxDepth  = 16  // of brackets, and of lists within lists on one line
	maxIndent = 256 // columns before a key or an entry
)

// Check returns an error that names the line if the text is too large or nests too
// deep. It reads brackets before it makes tokens, since making them takes long too.
func Check(src []byte) error {
	if len(src) > MaxBytes {
		return fmt.Errorf("%d bytes of YAML, want at most %d", len(src), MaxBytes)
	}
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return errors.New("the text is UTF-16: save it as UTF-8")
	}
	if line := run(src); line > 0 {
		return deep(line)
	}
	depth, entries, at := 0, 0, 0
	for _, t := range lexer.Tokenize(string(src)) {
		if t.Position.Line != at {
			entries, at = 0, t.Position.Line
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			entries++
		case token.MappingValueType:
			if depth == 0 && t.Position.Column > maxIndent && t.Position.IndentNum > maxIndent {
				return deep(at)
			}
		}
		if depth > MaxDepth || entries > MaxDepth {
			return deep(at)
		}
	}
	return nil
}

func deep(line int) error { return fmt.Errorf("line %d nests deeper than %d", line, MaxDepth) }

// maxRun is how many brackets in a row, or dashes of lists, no text has that people write.
const maxRun = 64

// run returns the line of a longer run of openings, 0 if there is none.
func run(src []byte) int {
	line, n := 1, 0
	for _, c := range src {
		switch c {
		case '\n':
			line++
		case '[', '{':
			n++
		case ' ', '\t', '\r', '"', '\'':
		default:
			n = 0
		}
		if n > maxRun {
			return line
		}
	}
	return 0
}

// bom is the byte order mark that some editors put before UTF-8.
const bom = "\ufeff"

// WithoutMark returns a text without its byte order mark, which the parser takes for a part of
// the first key.
func WithoutMark(src []byte) []byte { return bytes.TrimPrefix(src, []byte(bom)) }

// Unmarshal decodes a text within the limits. A text that trips the parser is an error.
func Unmarshal(src []byte, v any, options ...yaml.DecodeOption) (err error) {
	src = WithoutMark(src)
	if err := Check(src); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil { // the parser is not ours
			err = fmt.Errorf("not YAML: %v", p)
		}
	}()
	return yaml.UnmarshalWithOptions(src, v, options...)
}
