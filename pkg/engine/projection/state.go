package projection

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
	"github.com/signalbox/signalbox/pkg/engine/series"
)

// State is one instance after one of its commits. It is immutable once it was
// returned by an exported method; the next state shares the past with it.
type State struct {
	Instance instance.Instance
	*metadata
}

// metadata is the log's data on an instance other than its state.
type metadata struct {
	head digest // chain of its newest commit
	// commands are all that it carried out. A command may come again long after, when
	// its sender was away before the reply came.
	commands series.List[command]
	// rests is until when the instance is left alone after a fault.
	rests time.Time
	// unshared says that only states has it: then it may be changed in place. states
	// guards it.
	unshared bool
}

// command is a command that was carried out: the hash of its id, and the lower half of
// the sequence of its commit.
type command struct{ id, seq uint32 }

// Empty returns the state of an instance that was never opened. It copies the id, which
// is kept with the instance: a commit's id is a part of its subject.
func Empty(id string) *State {
	return &State{instance.Instance{ID: strings.Clone(id)}, &metadata{}}
}

// decoded returns the state of an instance in a snapshot.
func decoded(l snapshot.Live) *State {
	all := make([]command, len(l.Commands))
	for i, c := range l.Commands {
		all[i] = command{uint32(c >> 32), uint32(c)}
	}
	return &State{l.Instance, &metadata{head: l.Head, rests: l.Rests, commands: series.New(all...)}}
}

// record returns the state as a snapshot has it.
func (s *State) record(claims []uint64) snapshot.Live {
	l := snapshot.Live{Instance: s.Instance, Head: s.head, Rests: s.rests, Claims: claims}
	for some := range s.commands.Blocks() {
		for _, c := range some {
			l.Commands = append(l.Commands, uint64(c.id)<<32|uint64(c.seq))
		}
	}
	return l
}

// with returns the state after one more commit.
func (s *State) with(c instance.Commit, chain string) *State {
	next := &State{s.Instance, &metadata{rests: s.rests, commands: s.commands}}
	next.evolve(c, chain)
	return next
}

// evolve changes the state in place to the one after one more commit.
func (s *State) evolve(c instance.Commit, chain string) {
	s.Instance.Evolve(c)
	s.head, s.commands = digestOf(chain), s.commands.Append(command{hash(c.ID), uint32(c.Seq)})
	for _, e := range c.Events {
		switch e := e.(type) {
		case instance.Released:
			if e.Fault {
				s.rests = c.At.Add(rest(s.Instance.Faults))
				if e.Until.After(s.rests) {
					s.rests = e.Until
				}
			}
		case instance.Dispatched:
			s.rests = time.Time{}
		}
	}
}

// rest is how long work that came back because of a fault is left alone, by the number
// of faults: 1, 4, 16, 60 seconds. Otherwise one worker after the other would try the
// most urgent work at once, until it had too many faults.
func rest(faults int) time.Duration {
	return min(time.Second<<(2*min(max(faults-1, 0), 3)), time.Minute)
}

// Chain returns the chain of the newest commit, "" if there is none.
func (s *State) Chain() string { return s.head.chain() }

// RestsUntil returns until when the instance is left alone after a fault. The zero time
// says that it is not.
func (s *State) RestsUntil() time.Time { return s.rests }

// Ready returns the role that has work to do at the instance, "" if none has.
func (s *State) Ready() (role string) {
	in := &s.Instance
	if in.Closed != "" || in.Work == 0 || in.Paused || in.Parked != nil {
		return ""
	}
	return in.Worker()
}

// MayHaveDone reports whether the instance may have carried out a command. Only the
// log tells for sure.
func (s *State) MayHaveDone(id string) bool {
	h := hash(id)
	for some := range s.commands.Blocks() {
		for _, c := range some {
			if c.id == h {
				return true
			}
		}
	}
	return false
}

// SeqBefore returns the sequence of the commit before the first one that the command
// may have made; ok is false if it made none.
func (s *State) SeqBefore(id string) (seq uint64, ok bool) {
	h, last := hash(id), uint64(0)
	for some := range s.commands.Blocks() {
		for _, c := range some {
			if c.id == h {
				return last, true
			}
			last = fullSeq(c.seq, s.Instance.Seq)
		}
	}
	return 0, false
}

// fullSeq returns the sequence whose lower half is seq and that is at most newest. If
// the past is longer than four billion commits it may be wrong: then the log has no
// such commit of the instance.
func fullSeq(seq uint32, newest uint64) uint64 {
	at := newest&^(1<<32-1) | uint64(seq)
	if at > newest {
		at -= 1 << 32
	}
	return at
}

func hash(id string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(id))
	return h.Sum32()
}

// digest is the chain of a commit, in half the bytes. The zero digest is that of no
// commit.
type digest [sha256.Size]byte

// digestOf returns the digest of a commit's Chain, which the store has checked.
func digestOf(chain string) (d digest) {
	var text [2 * sha256.Size]byte
	_, _ = hex.Decode(d[:], text[:copy(text[:], chain)])
	return d
}

func (d digest) chain() string {
	if d == (digest{}) {
		return ""
	}
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], d[:])
	return string(text[:])
}
