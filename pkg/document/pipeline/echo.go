package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// unspoken writes a JSON text's escapes as numbers. The source has programs read the
// document into a shell's variable and print it with echo. The echo of some shells takes \n
// and \\ for its own.
func unspoken(text []byte) []byte {
	var out bytes.Buffer
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		if c, ok := escapes(text[i]); ok {
			fmt.Fprintf(&out, `\u%04x`, c)
		} else {
			out.WriteByte('\\')
			out.WriteByte(text[i])
		}
	}
	return out.Bytes()
}

func escapes(c byte) (byte, bool) {
	switch c {
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case '\\':
		return '\\', true
	}
	return 0, false
}

// mended is a JSON text as it was before such an echo. A character that a string may not hold
// stands in it as an escape again. A text that is JSON stays as it is.
func mended(text []byte) []byte {
	if json.Valid(text) {
		return text
	}
	var out bytes.Buffer
	within := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			within = !within
			out.WriteByte(c)
		case !within:
			out.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&out, `\u%04x`, c)
		case c == '\\' && i+1 < len(text) && bytes.IndexByte([]byte(`"/\bfnrtu`), text[i+1]) >= 0:
			out.WriteByte(c)
			i++
			out.WriteByte(text[i])
		case c == '\\':
			out.WriteString(`\\`)
		default:
			out.WriteByte(c)
		}
	}
	return out.Bytes()
}
