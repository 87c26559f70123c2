package projection

import (
	"slices"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// Limits of the commits that are kept for those who watch the log.
const (
	maxRecent      = 1024
	maxRecentBytes = 8 << 20
)

// recent is the newest messages of the log, commits and foreign ones, without a gap. It
// keeps them from the first time that after is called, until maxRecent came since the last:
// without a watch it costs nothing. The zero value is ready. It is safe for concurrent use.
type recent struct {
	mu     sync.Mutex
	wanted int                 // how many more messages are kept
	all    []eventstore.Commit // those before first are empty
	first  int
	bytes  int // of the commits' data
}

// add adds the next message of the log.
func (r *recent) add(c eventstore.Commit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wanted == 0 {
		r.all, r.first, r.bytes = nil, 0, 0
		return
	}
	r.wanted--
	r.all = append(r.all, c)
	r.bytes += len(c.Data)
	for len(r.all)-r.first > maxRecent || r.bytes > maxRecentBytes {
		r.bytes -= len(r.all[r.first].Data)
		r.all[r.first] = eventstore.Commit{}
		r.first++
	}
	if r.first > maxRecent {
		r.all = slices.Delete(r.all, 0, r.first)
		r.first = 0
	}
}

// after returns the messages after a sequence. ok is false if not all of them are kept.
func (r *recent) after(seq uint64) (some []eventstore.Commit, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted = maxRecent
	kept := r.all[r.first:]
	if len(kept) == 0 || seq+1 < kept[0].Seq {
		return nil, false
	}
	return slices.Clone(kept[min(seq+1-kept[0].Seq, uint64(len(kept))):]), true
}

func (r *recent) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all, r.first, r.bytes = nil, 0, 0
}

// Recent returns what was followed after a sequence, messages that are no commits among
// it. ok is false if that is too long ago to be in memory: then the log has it.
func (p *Projection) Recent(after uint64) (some []eventstore.Commit, ok bool) {
	return p.recent.after(after)
}
