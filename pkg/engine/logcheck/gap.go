package logcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Gap is a range of sequences without a readable message.
type Gap struct {
	From      uint64   `json:"from"`
	To        uint64   `json:"to"`
	Instances []string `json:"instances"` // known to have lost commits in it, sorted; never nil
}

// gap is a Gap whose instances are still being found.
type gap struct {
	from, to      uint64
	before, after position // after is zero at the end of the log
	instances     map[string]bool
}

// position is a message of the log. instance is empty if it is not a commit.
type position struct {
	seq      uint64
	instance string
}

func (s position) String() string {
	switch {
	case s.seq == 0:
		return "the beginning"
	case s.instance == "":
		return fmt.Sprintf("%d, which is not a commit", s.seq)
	}
	return fmt.Sprintf("%d of %s", s.seq, s.instance)
}

// addGap records that the sequences before next are missing.
func (k *Checker) addGap(next position) {
	k.gaps = append(k.gaps, &gap{k.lastSeq + 1, next.seq - 1, k.newest, next, map[string]bool{}})
}

// gapAt returns the gap that has a sequence, or nil.
func (k *Checker) gapAt(seq uint64) *gap {
	i, _ := slices.BinarySearchFunc(k.gaps, seq, func(g *gap, seq uint64) int {
		switch {
		case g.to < seq:
			return -1
		case g.from > seq:
			return 1
		}
		return 0
	})
	if i < len(k.gaps) && k.gaps[i].from <= seq && seq <= k.gaps[i].to {
		return k.gaps[i]
	}
	return nil
}

// ReadTo records that the log has been read, and that it once reached at least last.
func (k *Checker) ReadTo(last uint64) {
	if last > k.lastSeq {
		k.gaps = append(k.gaps, &gap{k.lastSeq + 1, last, k.newest, position{}, map[string]bool{}})
		k.lastSeq = last
	}
}

// HasGaps reports whether any sequence is missing so far.
func (k *Checker) HasGaps() bool { return len(k.gaps) > 0 }

// HasCommit means that, by a source other than the log, an instance has a commit at
// a sequence. If that is missing, the gap is attributed to the instance.
func (k *Checker) HasCommit(instance string, seq uint64) {
	if g := k.gapAt(seq); g != nil {
		g.instances[instance] = true
	}
}

// HasCommits records that, by a source other than the log, there are n messages on an
// instance's subjects. If fewer were read, the gaps after its newest commit are
// attributed to it.
func (k *Checker) HasCommits(instance string, n int) {
	newest, have := uint64(0), 0
	if t := k.instances[instance]; t != nil {
		newest, have = t.seq, t.commits
	}
	if n > have+k.aliens[instance] {
		k.attribute(instance, newest)
	}
}

// attribute attributes every gap after a sequence to the instance, and reports
// whether there is one.
func (k *Checker) attribute(instance string, after uint64) (found bool) {
	for _, g := range k.gaps {
		if g.from > after {
			g.instances[instance], found = true, true
		}
	}
	return found
}

func (g *gap) export() Gap {
	return Gap{g.from, g.to, slices.AppendSeq([]string{}, maps.Keys(g.instances))}.sorted()
}

func (g Gap) sorted() Gap { slices.Sort(g.Instances); return g }

// namedInstances is how many instances a text names.
const namedInstances = 10

func (g *gap) violation() Violation {
	ids := g.export().Instances
	v := Violation{Seq: g.from, Rule: Sequence}
	if len(ids) == 1 {
		v.Instance = ids[0]
	}
	what := fmt.Sprintf("sequence %d is missing", g.from)
	if g.to > g.from {
		what = fmt.Sprintf("sequences %d to %d are missing, %d commits", g.from, g.to, g.to-g.from+1)
	}
	where := fmt.Sprintf("between %s and %s", g.before, g.after)
	if g.after == (position{}) {
		where = fmt.Sprintf("after %s, where the log ends", g.before)
		if g.from == 1 {
			where = "which is all of the log"
		}
	}
	whose := "their instances are unknown"
	if len(ids) > 0 {
		whose = "of " + strings.Join(ids[:min(len(ids), namedInstances)], ", ")
		if more := len(ids) - namedInstances; more > 0 {
			whose += fmt.Sprintf(" and %d more", more)
		}
	}
	v.Text = what + ", " + where + "; " + whose
	return v
}
