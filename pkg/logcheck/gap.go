package logcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Gap is a run of sequences at which there is nothing to read.
type Gap struct {
	From      uint64   `json:"from"`
	To        uint64   `json:"to"`
	Instances []string `json:"instances"` // that are known to have lost something there; never nil
}

// gap is a Gap while it is found out whose commits lay in it.
type gap struct {
	from, to      uint64
	before, after spot // the end lies after nothing
	hurt          map[string]bool
}

// spot is what lies at a sequence: a commit, or something else.
type spot struct {
	seq      uint64
	instance string
}

func (s spot) String() string {
	switch {
	case s.seq == 0:
		return "the beginning"
	case s.instance == "":
		return fmt.Sprintf("%d, which is not a commit", s.seq)
	}
	return fmt.Sprintf("%d of %s", s.seq, s.instance)
}

// miss records that the sequences up to the one before next are not there.
func (k *Checker) miss(next spot) {
	k.gaps = append(k.gaps, &gap{k.last + 1, next.seq - 1, k.newest, next, map[string]bool{}})
}

// gap returns the one that a sequence lies in, or nil.
func (k *Checker) gap(seq uint64) *gap {
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

// End says that the log has been read, and that it reached at least last once.
func (k *Checker) End(last uint64) {
	if last > k.last {
		k.gaps = append(k.gaps, &gap{k.last + 1, last, k.newest, spot{}, map[string]bool{}})
		k.last = last
	}
}

// Torn says whether anything is missing so far.
func (k *Checker) Torn() bool { return len(k.gaps) > 0 }

// Known says that, by what is kept beside the log, an instance has a commit at a
// sequence: if that is missing, it is the instance's.
func (k *Checker) Known(instance string, seq uint64) {
	if g := k.gap(seq); g != nil {
		g.hurt[instance] = true
	}
}

// Counted says that, by what is kept beside the log, an instance has n commits:
// if there are fewer, one is missing of those that came after its newest.
func (k *Checker) Counted(instance string, n int) {
	newest, have := uint64(0), 0
	if t := k.trails[instance]; t != nil {
		newest, have = t.seq, t.commits
	}
	if n > have {
		k.suspect(instance, newest)
	}
}

// suspect names the instance with every gap after the sequence; if there is none,
// it is named with one before it already.
func (k *Checker) suspect(instance string, after uint64) (found bool) {
	for _, g := range k.gaps {
		if g.from > after {
			g.hurt[instance], found = true, true
		}
	}
	return found
}

func (g *gap) export() Gap {
	return Gap{g.from, g.to, slices.AppendSeq([]string{}, maps.Keys(g.hurt))}.sorted()
}

func (g Gap) sorted() Gap { slices.Sort(g.Instances); return g }

// named is how many instances a text names.
const named = 10

func (g *gap) violation() Violation {
	hurt := g.export().Instances
	v := Violation{Seq: g.from, Rule: Sequence}
	if len(hurt) == 1 {
		v.Instance = hurt[0]
	}
	what := fmt.Sprintf("sequence %d is missing", g.from)
	if g.to > g.from {
		what = fmt.Sprintf("sequences %d to %d are missing, %d commits", g.from, g.to, g.to-g.from+1)
	}
	where := fmt.Sprintf("between %s and %s", g.before, g.after)
	if g.after == (spot{}) {
		where = fmt.Sprintf("after %s, where the log ends", g.before)
		if g.from == 1 {
			where = "which is all of the log"
		}
	}
	whose := "nothing tells of which instances"
	if len(hurt) > 0 {
		whose = "of " + strings.Join(hurt[:min(len(hurt), named)], ", ")
		if more := len(hurt) - named; more > 0 {
			whose += fmt.Sprintf(" and %d more", more)
		}
	}
	v.Text = what + ", " + where + "; " + whose
	return v
}
