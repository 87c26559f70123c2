package whatif

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Log decides the histories of a whole log again, on several goroutines. Create one with Start,
// add all commits in the order of the log, and End it.
type Log struct {
	shares  []share
	seed    maphash.Seed
	running sync.WaitGroup
}

// share is the instances of one goroutine.
type share struct {
	commits chan []eventstore.Commit
	next    []eventstore.Commit // not sent yet
	runs    map[string]*Run
	again   instance.Decider
	shelf   Shelf
}

// batch is how many commits a goroutine gets at a time.
const batch = 256

// Start returns a log that n goroutines decide. They call alter once for each definition, and
// neither function at the same time. Instances that have ended are kept on the shelf; nil keeps them in memory.
func Start(n int, alter Alter, find Find, shelf Shelf) *Log {
	l := &Log{shares: make([]share, n), seed: maphash.MakeSeed()}
	d := &definitions{find: find, alter: alter, found: map[string]*workflow.Definition{}, altered: map[string]altered{}}
	for i := range l.shares {
		s := &l.shares[i]
		s.commits, s.runs, s.shelf = make(chan []eventstore.Commit, 4), map[string]*Run{}, shelf
		l.running.Go(func() {
			for commits := range s.commits {
				for _, c := range commits {
					s.add(c, d)
				}
			}
		})
	}
	return l
}

// Add adds the next commit. It ignores messages that are no commits: audit names them.
func (l *Log) Add(c eventstore.Commit) {
	if c.Foreign != nil {
		return
	}
	s := &l.shares[maphash.String(l.seed, c.Instance)%uint64(len(l.shares))]
	if s.next = append(s.next, c); len(s.next) == batch {
		s.commits <- s.next
		s.next = nil
	}
}

// End returns the cases of all instances, sorted by instance.
func (l *Log) End() []Case {
	var all []Case
	for i := range l.shares {
		l.shares[i].commits <- l.shares[i].next
		close(l.shares[i].commits)
	}
	l.running.Wait()
	for i := range l.shares {
		for _, r := range l.shares[i].runs {
			all = append(all, r.Case())
		}
	}
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.Instance, b.Instance) })
	return all
}

// add decodes a commit and gives it to the run of its instance.
func (s *share) add(c eventstore.Commit, d *definitions) {
	r := s.runs[c.Instance]
	if r == nil {
		r = newRun(c.Instance, d.other, d.recorded, &s.again)
		s.runs[c.Instance] = r
	}
	commit, err := wire.ToCommit(c)
	if err == nil {
		err = r.take(s.shelf)
	}
	if err != nil {
		r.unknown(instance.Commit{Seq: c.Seq, At: c.Time}, "a commit of it cannot be read: "+err.Error())
		return
	}
	r.Add(commit)
	r.shelve(s.shelf)
}

// definitions keeps the definitions of a log. It is safe for concurrent use.
type definitions struct {
	find  Find
	alter Alter

	mu      sync.Mutex
	found   map[string]*workflow.Definition // nil: not found
	altered map[string]altered
}

type altered struct {
	def *workflow.Definition
	err error
}

// recorded is a Find.
func (d *definitions) recorded(hash string) (*workflow.Definition, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	def, known := d.found[hash]
	if !known {
		def, _ = d.find(hash)
		d.found[hash] = def
	}
	return def, def != nil
}

// other is an Alter.
func (d *definitions) other(recorded *workflow.Definition) (*workflow.Definition, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, known := d.altered[recorded.Hash]
	if !known {
		a.def, a.err = d.alter(recorded)
		d.altered[recorded.Hash] = a
	}
	return a.def, a.err
}
