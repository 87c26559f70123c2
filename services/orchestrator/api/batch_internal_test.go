package api

import (
	"bytes"
	"testing"

	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// fakeRequest is a request without a message.
type fakeRequest struct {
	micro.Request
	name string
}

// Replies to one batch share a message, up to its limit; replies to others do not.
func TestRepliesOfOneMomentShareAMessage(t *testing.T) {
	type message struct {
		to      string
		replies map[uint64]int // bytes by place
	}
	var sent []message
	b := batchReplies{flushScheduled: true, send: func(to micro.Request, data []byte) {
		m := message{to.(*fakeRequest).name, map[uint64]int{}}
		if err := wire.Answers(data, func(place uint64, reply []byte) { m.replies[place] = len(reply) }); err != nil {
			t.Error(err)
		}
		sent = append(sent, m)
	}}
	first, second := &fakeRequest{name: "first"}, &fakeRequest{name: "second"}
	b.add(first, 0, []byte("a"))
	b.add(second, 0, []byte("bb"))
	b.add(first, 1, []byte("ccc"))
	b.add(first, 2, bytes.Repeat([]byte("d"), maxBatchReply))
	b.add(first, 3, []byte("eeee"))
	if len(sent) != 0 {
		t.Fatalf("sent %v before the flush", sent)
	}
	b.flush()
	b.flush()
	want := []message{{"first", map[uint64]int{0: 1, 1: 3, 3: 4}}, {"second", map[uint64]int{0: 2}}, {"first", map[uint64]int{2: maxBatchReply}}}
	if len(sent) != len(want) {
		t.Fatalf("sent %v, want %v", sent, want)
	}
	for i, m := range sent {
		if m.to != want[i].to || len(m.replies) != len(want[i].replies) {
			t.Errorf("message %d is %v, want %v", i, m, want[i])
		}
		for place, size := range want[i].replies {
			if m.replies[place] != size {
				t.Errorf("message %d has %d bytes at place %d, want %d", i, m.replies[place], place, size)
			}
		}
	}
}
