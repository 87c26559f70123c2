package subject

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxInstance is the longest instance id, in bytes before escaping.
const MaxInstance = 200

const hexDigits = "0123456789ABCDEF"

// CheckInstance returns why id cannot name an instance: an id is 1 to MaxInstance
// bytes of UTF-8 text.
func CheckInstance(id string) error {
	if id == "" || len(id) > MaxInstance {
		return fmt.Errorf("%w: instance id %.210q has %d bytes, want 1 to %d", ErrInvalid, id, len(id), MaxInstance)
	}
	if !utf8.ValidString(id) {
		return fmt.Errorf("%w: instance id %q, want UTF-8", ErrInvalid, id)
	}
	return nil
}

// Escape makes one token of an instance id. ASCII letters, digits, '/', '_' and '-' stay;
// any other byte becomes '=' and two upper-case hex digits. The token is also a legal
// key-value key. "acme/widgets/42" is its own escape.
func Escape(id string) string {
	if allPlain(id) {
		return id
	}
	var b strings.Builder
	b.Grow(len(id))
	for i := range len(id) {
		if c := id[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'=', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
	return b.String()
}

// Unescape returns the instance id a token stands for. Only what Escape makes
// is taken: an id with two spellings would have two histories.
func Unescape(token string) (string, error) {
	if allPlain(token) {
		return token, CheckInstance(token)
	}
	b := make([]byte, 0, len(token))
	for i := 0; i < len(token); i++ {
		c := token[i]
		if c == '=' && i+2 < len(token) {
			hi, lo := strings.IndexByte(hexDigits, token[i+1]), strings.IndexByte(hexDigits, token[i+2])
			c = byte(hi<<4 | lo&15)
			i += 2
		}
		b = append(b, c)
	}
	id := string(b)
	if Escape(id) != token {
		return "", fmt.Errorf("%w: token %.300q is not an escaped instance id", ErrInvalid, token)
	}
	return id, CheckInstance(id)
}

// allPlain reports whether s is its own escape, as nearly every id is.
func allPlain(s string) bool {
	for i := range len(s) {
		if !plain(s[i]) {
			return false
		}
	}
	return true
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '/' || c == '_' || c == '-'
}
