package learning

import (
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Book is the learnings of one repository: the fold of its record's commits. The zero
// Book has none. It is no value for concurrent use.
type Book struct {
	all []*Learning // in the order in which they were proposed first
}

// Apply adds a commit of the record. It leaves out notes that it does not know: a log may have
// those of a newer build.
func (b *Book) Apply(c instance.Commit) {
	for _, e := range c.Events {
		n, ok := e.(instance.Noted)
		if !ok || !IsKind(n.Kind) {
			continue
		}
		of := instance.Learning{}
		if n.Learning != nil {
			of = *n.Learning
		}
		_, agent := instance.AgentRole(n.Author)
		if n.Kind == Noted {
			b.note(n, of, agent || of.Instance != "", c.At)
			continue
		}
		for _, id := range of.IDs {
			i := slices.IndexFunc(b.all, func(l *Learning) bool { return l.ID == id })
			switch {
			case i < 0:
			case n.Kind == Used:
				b.all[i].use(of.Instance, c.At)
			case agent: // only people confirm and remove
			case n.Kind == Confirmed:
				b.all[i].confirm(n.Author, c.At)
			default:
				b.all[i].RemovedBy, b.all[i].RemovedAt = n.Author, c.At
			}
		}
	}
}

// note adds a learning, or one more note about a known one. A note with an instance is a
// proposal, whoever makes it: people, too, repeat texts that they read there. A person's
// note on the repository is confirmed, and nothing else brings back a learning that a person
// removed.
func (b *Book) note(n instance.Noted, of instance.Learning, proposed bool, at time.Time) {
	file, text, err := Clean(of.Path, n.Text)
	if err != nil {
		return
	}
	id := ID(file, text)
	i := slices.IndexFunc(b.all, func(l *Learning) bool { return l.ID == id })
	if i < 0 {
		i = len(b.all)
		b.all = append(b.all, &Learning{ID: id, Path: file, Text: text, By: n.Author, Instance: of.Instance, Trusted: of.Trusted, At: at})
	}
	l := b.all[i]
	switch {
	case !proposed:
		l.confirm(n.Author, at)
	case l.RemovedBy == "":
		l.At, l.Trusted = at, l.Trusted || of.Trusted
	}
}

func (l *Learning) confirm(by string, at time.Time) {
	l.ConfirmedBy, l.ConfirmedAt = by, at
	l.RemovedBy, l.RemovedAt = "", time.Time{}
}

func (l *Learning) use(by string, at time.Time) {
	l.UsedAt = at
	if by != "" && !slices.Contains(l.Used, by) {
		l.Used = append(l.Used, by)
		l.Used = l.Used[max(0, len(l.Used)-maxUses):]
	}
}

// List returns the learnings as of a time: those that count first, confirmed before
// proposed, the newest before older ones. well reports whether an instance ended well.
func (b *Book) List(now time.Time, well func(id string) bool) []Learning {
	all := make([]Learning, 0, len(b.all))
	for _, kept := range b.all {
		l := *kept
		l.Used, l.Successes = slices.Clone(l.Used), nil
		for _, id := range l.Used {
			if id != l.Instance && well(id) {
				l.Successes = append(l.Successes, id)
			}
		}
		switch {
		case l.RemovedBy != "":
			l.State = StateRemoved
		case now.Sub(l.last()) >= MaxAge:
			l.State = StateAged
		case l.confirmed():
			l.State = StateConfirmed
		default:
			l.State = StateProposed
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all, before)
	for i := range all {
		if i >= MaxKept && all[i].Counts() {
			all[i].State = StateDisplaced
		}
	}
	slices.SortStableFunc(all, before)
	return all
}

// before orders learnings: by state, then the newest first.
func before(a, b Learning) int {
	if a.State != b.State {
		return slices.Index(order, a.State) - slices.Index(order, b.State)
	}
	if c := b.last().Compare(a.last()); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

var order = []State{StateConfirmed, StateProposed, StateDisplaced, StateAged, StateRemoved}
