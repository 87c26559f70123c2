package projection

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
)

// What tests in package projection_test look at.
const (
	BatchSize     = batchSize
	MaxBatchBytes = maxBatchBytes
)

// Metadata is what a State has beside the instance.
type Metadata struct {
	Head     string
	Commands []command
	Rests    time.Time
}

// Command is for cmp.AllowUnexported.
type Command = command

// Contents is all of a Projection that decisions and lists are made from.
type Contents struct {
	Live      map[string]instance.Instance
	Metadata  map[string]Metadata
	Closed    map[string]instance.Instance
	Heads     map[string]string
	ByCommand map[uint64]string
	Claims    map[string][]uint64
	Seq       uint64
	Chain     string
}

// Contents returns what p has. No other goroutine may use p.
func (p *Projection) Contents() Contents {
	c := Contents{Live: map[string]instance.Instance{}, Metadata: map[string]Metadata{}, Closed: map[string]instance.Instance{},
		Heads: map[string]string{}, ByCommand: p.claims.byCommand, Claims: map[string][]uint64{}}
	c.Seq, c.Chain = p.position.read()
	for _, s := range p.states.live.states.all {
		c.Live[s.Instance.ID] = s.Instance
		c.Metadata[s.Instance.ID] = Metadata{s.Chain(), s.commands.Slice(), s.rests}
	}
	for _, s := range p.states.closed.all {
		c.Closed[s.id], c.Heads[s.id] = s.instance(), s.head.chain()
	}
	for id := range p.claims.byInstance {
		c.Claims[id] = p.claims.of(id)
	}
	return c
}

// Encoded returns how many live instances are not decoded.
func (p *Projection) Encoded() (n int) {
	p.states.mu.Lock()
	defer p.states.mu.Unlock()
	for _, data := range p.states.live.encoded {
		if data != nil {
			n++
		}
	}
	return n
}

// DecodedAll reports whether DecodeSome has nothing more to do.
func (p *Projection) DecodedAll() bool { return p.states.live.encoded == nil }

// SpoilEncoded damages an instance that is not decoded.
func (p *Projection) SpoilEncoded(id string) {
	p.states.mu.Lock()
	defer p.states.mu.Unlock()
	p.states.live.encoded[id] = []byte{0xff}
}

// InsertEncoded adds live instances that decode decodes to an instance.
func (p *Projection) InsertEncoded(decode func(data []byte) (id string), all map[string][]byte) {
	p.states.decodeWith(func(data []byte) (*State, error) { return Empty(decode(data)), nil })
	for id, data := range all {
		p.states.insertEncoded(id, data)
	}
}

// DecodeSome decodes a batch.
func (p *Projection) DecodeSome() ([]string, error) { return p.states.decodeSome() }

// HasLive reports whether there is a decoded live instance.
func (p *Projection) HasLive(id string) bool { _, ok := p.states.live.states.get(id); return ok }

// SnapshotFrom is the sequence from which the commits to the next snapshot are counted.
func (p *Projection) SnapshotFrom() uint64 { return p.schedule.from }

// OrderedAs says whether Changed is to be called with ordered for a definition.
func (p *Projection) OrderedAs(hash string) bool {
	o, ok := p.orders.Load(hash)
	return !ok || o.(order) != orderless
}

// After returns the state after one more commit.
func (s *State) After(c instance.Commit) *State { return s.with(c, "") }

// Record returns the state as a snapshot has it.
func (s *State) Record() snapshot.Live { return s.record(nil) }

// Decoded returns the state of an instance in a snapshot.
func Decoded(l snapshot.Live) *State { return decoded(l) }
