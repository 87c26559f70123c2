package allowance

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
)

// The time that a process may have others wait is bounded: one that lies can slow them down only.
const (
	MaxAhead     = time.Hour   // of a limit that is reported
	MaxWait      = time.Minute // for a place
	MaxPace      = time.Minute // between two writes
	MaxWords     = 200         // bytes of what the forge said
	MaxHolders   = 1000        // in a book
	maxResources = 16          // of a holder
	maxResource  = 40          // bytes of a resource's name
)

// Errors of Book.
var (
	ErrInvalid = errors.New("invalid question about an allowance")
	ErrFull    = errors.New("the book of allowances is full")
)

// Book has the allowances that the processes of a deployment share. It has no lock.
type Book struct{ holders map[string]*Holder }

// NewBook returns a book without holders.
func NewBook() *Book { return &Book{map[string]*Holder{}} }

// Ask is what a process asks about a holder.
type Ask struct {
	Holder string  // as Name returns it
	Told   []Limit // that an answer of the forge has shown
	Place  *Place  // that is to be taken; nil: none
}

// Place is a place in the lanes of writes.
type Place struct {
	Creates bool
	Pace    time.Duration // between two writes
	After   time.Time     // it is not before
	Latest  time.Time     // it is not after
}

// Answer is what a process may do.
type Answer struct {
	Taken  bool      // the place is
	At     time.Time // of the place, or, if it was not taken, of the first one that is free; zero where a limit holds
	Limits []Limit   // that are reached
	News   bool      // one of the reported ones was unknown to the book
}

// Ask answers a process. The error is ErrInvalid or ErrFull.
func (b *Book) Ask(a Ask, now time.Time) (Answer, error) {
	if err := a.check(); err != nil {
		return Answer{}, err
	}
	h, err := b.of(a.Holder, now)
	if err != nil {
		return Answer{}, err
	}
	var answer Answer
	for _, l := range a.Told {
		answer.News = h.hear(l, now) || answer.News
	}
	answer.Limits = h.Limits(now)
	if a.Place != nil && !h.until.After(now) {
		answer.At, answer.Taken = h.take(*a.Place, now)
	}
	return answer, nil
}

// of returns what a holder may request. It makes that, and removes those that are idle, if
// the book does not have the holder.
func (b *Book) of(holder string, now time.Time) (*Holder, error) {
	if h := b.holders[holder]; h != nil {
		return h, nil
	}
	maps.DeleteFunc(b.holders, func(_ string, h *Holder) bool { return h.Idle(now) })
	if len(b.holders) >= MaxHolders {
		return nil, fmt.Errorf("%w: it has %d holders", ErrFull, MaxHolders)
	}
	h := NewHolder(0)
	b.holders[holder] = h
	return h, nil
}

// Reached returns the limits of all holders that are reached, and how many holders there are.
func (b *Book) Reached(now time.Time) (all []Limit, holders int) {
	for _, h := range b.holders {
		all = append(all, h.Limits(now)...)
	}
	slices.SortFunc(all, func(x, y Limit) int { return cmp.Or(y.Until.Compare(x.Until), strings.Compare(x.Resource, y.Resource)) })
	return all, len(b.holders)
}

// take takes the first place that is free, unless that is too late.
func (h *Holder) take(p Place, now time.Time) (at time.Time, taken bool) {
	h.writes.within = min(p.Pace, MaxPace)
	from, latest, is := now, p.Latest, Request{Writes: true, Creates: p.Creates}
	if p.After.After(from) {
		from = p.After
	}
	if last := now.Add(MaxWait); latest.After(last) {
		latest = last
	}
	if at = h.Free(is, from); at.After(now) && at.After(latest) {
		return at, false
	}
	h.Record(is, at)
	return at, true
}

// hear takes in a limit that a process has reported, within bounds.
func (h *Holder) hear(l Limit, now time.Time) (news bool) {
	if last := now.Add(MaxAhead); l.Until.After(last) {
		l.Until = last
	}
	l.Words = words(l.Words)
	maps.DeleteFunc(h.rates, func(_ string, r Rate) bool { return !r.Reset.After(now) })
	_, known := h.rates[l.Resource]
	if !l.Until.After(now) || l.Resource != "" && !known && len(h.rates) >= maxResources {
		return false
	}
	return h.Reach(l, now)
}

// check returns an ErrInvalid for what no process asks that means well.
func (a Ask) check() error {
	if name, err := hex.DecodeString(a.Holder); err != nil || len(name) != nameSize {
		return fmt.Errorf("%w: the holder is the hash of %d hexadecimal digits that stands for it, not %d bytes", ErrInvalid, 2*nameSize, len(a.Holder))
	}
	if a.Place != nil && a.Place.Pace <= 0 {
		return fmt.Errorf("%w: a place needs a pace", ErrInvalid)
	}
	if len(a.Told) > maxResources+1 {
		return fmt.Errorf("%w: %d limits are reported, at most %d can be", ErrInvalid, len(a.Told), maxResources+1)
	}
	for _, l := range a.Told {
		if len(l.Resource) > maxResource || strings.Trim(l.Resource, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" || l.Hour < 0 {
			return fmt.Errorf("%w: no resource of a forge is %.50q with %d requests an hour", ErrInvalid, l.Resource, l.Hour)
		}
	}
	return nil
}

// words returns what the forge said, in one short line that shows what it is.
func words(s string) string {
	return cut(sanitize.TerminalLine(cut(s, MaxWords)), MaxWords)
}

// cut returns at most so many bytes of s, without half a character at the end.
func cut(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}
