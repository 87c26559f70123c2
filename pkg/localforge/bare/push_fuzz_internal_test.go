package bare

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// FuzzPush holds that the moves of a push are the same however its body is cut, and that
// git may be asked for each.
func FuzzPush(f *testing.F) {
	old, next := strings.Repeat("1", 40), strings.Repeat("2", 40)
	f.Add([]byte("0076"+old+" "+next+" refs/heads/main\x00 report-status agent=git/2.39.50000PACK"), 7)
	f.Add([]byte("0069"+old+" "+next+" refs/heads/a\n0069--upload-pack=x "+next+" refs/heads/b\n0000"), 1)
	f.Add([]byte("ffff0000"), 2)
	f.Fuzz(func(t *testing.T, body []byte, size int) {
		var whole, cut pushReader
		_, _ = whole.Write(body)
		for part := range slices.Chunk(body, max(1, size%len(append(body, 0)))) {
			_, _ = cut.Write(part)
		}
		if !slices.Equal(whole.moves, cut.moves) {
			t.Errorf("%q has the moves %v, and in parts %v", body, whole.moves, cut.moves)
		}
		for _, m := range whole.moves {
			if strings.HasPrefix(m.Before, "-") || strings.HasPrefix(m.After, "-") || !bytes.Contains(body, []byte(m.Ref)) {
				t.Errorf("%q has the move %v", body, m)
			}
		}
	})
}
