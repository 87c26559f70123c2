package model

import (
	"bytes"
	"fmt"
	"strings"
)

// maxTranscript limits the bytes of a transcript: its first and its last half are kept.
const maxTranscript = 1 << 20

// transcript is the conversation as people read it.
type transcript struct {
	head, tail bytes.Buffer
	lost       int
	print      func(text string) // shows people what is added; nil: nobody
}

func (t *transcript) add(format string, args ...any) {
	text := strings.ToValidUTF8(fmt.Sprintf(format, args...), "\uFFFD")
	if t.print != nil {
		t.print(text)
	}
	if t.tail.Len() == 0 && t.head.Len()+len(text) <= maxTranscript/2 {
		t.head.WriteString(text)
		return
	}
	t.tail.WriteString(text)
	if over := t.tail.Len() - maxTranscript/2; over > 0 {
		t.lost += len(t.tail.Next(over))
	}
}

func (t *transcript) bytes() []byte {
	all := bytes.Clone(t.head.Bytes())
	if t.lost > 0 {
		all = fmt.Appendf(all, "\n[… %d bytes left out …]\n", t.lost)
	}
	return append(all, bytes.ToValidUTF8(t.tail.Bytes(), nil)...)
}
