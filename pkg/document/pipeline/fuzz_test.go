package pipeline

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// FuzzRead holds that a document that a program left is read or refused.
func FuzzRead(f *testing.F) {
	a := work.Assignment{Instance: "acme/widgets/1", Role: "writer", State: "writer", Issue: instance.Issue{Title: "x"}, Writes: []string{"writer"}}
	before := OfAssignment(a)
	text, err := before.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"writer":{"completed":true,"summary":1},"pipeline":[]}`))
	f.Add([]byte(`{"questions":[{"to":"analyst"}]}`))
	f.Fuzz(func(_ *testing.T, after []byte) { _, _ = Read(a, before, after) })
}
