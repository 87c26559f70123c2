package prd_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/document/prd"
)

// FuzzParse holds that any file is read or refused, and that a story that was read is
// read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"stories":[{"id":"US-1","title":"x","status":"pending","acceptanceCriteria":["a"]}]}`))
	f.Add([]byte(`{"userStories":[{"id":"US-1","passes":false,"priority":1e400}]}`))
	f.Add([]byte("[[[[[[[[[[{"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := prd.Parse("prd.json", src)
		if err != nil {
			return
		}
		for _, s := range file.Stories {
			if _, err := prd.ParseStory(s.JSON()); err != nil {
				t.Errorf("%s is read from the file and not alone: %v", s.JSON(), err)
			}
		}
	})
}
