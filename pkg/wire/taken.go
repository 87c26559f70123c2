package wire

import (
	"time"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Taken is the reply to a command that was taken.
type Taken struct {
	Seq       uint64
	Duplicate bool
	Token     uint64    // of the claim that it made or extended; 0: none
	Lease     time.Time // of that
	Told      Told
	Brief     bool // of the instance it says only where it is, and whose turn it is
	Task      *Task
}

// Task is encoded once: it is the same for all that are in a state.
type Task struct {
	message *pb.Task
	data    []byte // the field of the reply, nil if it cannot be encoded
}

// NewTask encodes what a claiming agent is told to do.
func NewTask(t *pb.Task) *Task {
	var p pen
	at := p.open(6)
	p.message(t)
	if p.odd {
		return &Task{message: t}
	}
	p.close(at)
	return &Task{t, p.data}
}

// Message makes one of the reply.
func (t *Taken) Message() *pb.CommandReply {
	p := &pb.CommandReply{Seq: t.Seq, Duplicate: t.Duplicate, Token: u32(t.Token), Lease: stamp(t.Lease)}
	if t.Task != nil {
		p.Task = t.Task.message
	}
	if t.Brief {
		p.Instance = t.Told.outline()
	} else {
		p.Instance = t.Told.message()
	}
	return p
}

// Encoded is that message encoded, which is not made for it; ok is false if
// something in it cannot be encoded.
func (t *Taken) Encoded() (data []byte, ok bool) {
	p := pen{data: make([]byte, 0, 1<<10)} // most fit
	p.number(1, t.Seq)
	p.flag(2, t.Duplicate)
	p.number(3, uint64(u32(t.Token)))
	p.time(4, t.Lease)
	at := p.open(5)
	if t.Brief {
		p.outline(&t.Told)
	} else {
		p.told(&t.Told)
	}
	p.close(at)
	if t.Task != nil {
		p.data = append(p.data, t.Task.data...)
		p.odd = p.odd || t.Task.data == nil
	}
	return p.data, !p.odd
}
