package allowance

import (
	"slices"
	"time"
)

// GitHub's limits on who writes, per account: content is what is created.
const (
	contentsAMinute = 80
	contentsAnHour  = 500
)

// lane spaces requests: at most so many within any period of the length.
type lane struct {
	most   int
	within time.Duration
	at     []time.Time // the latest, in order
}

// next returns when the lane is free.
func (l *lane) next(now time.Time) time.Time {
	if len(l.at) < l.most {
		return now
	}
	if free := l.at[len(l.at)-l.most].Add(l.within); free.After(now) {
		return free
	}
	return now
}

// record counts a request at that time, which may lie before that of another.
func (l *lane) record(at time.Time) {
	i := len(l.at)
	for i > 0 && l.at[i-1].After(at) {
		i--
	}
	l.at = slices.Insert(l.at, i, at)
	l.at = l.at[max(0, len(l.at)-l.most):]
}

// idle reports whether the lane would say the same if it had counted nothing.
func (l *lane) idle(now time.Time) bool {
	n := len(l.at)
	return n == 0 || !l.at[n-1].Add(l.within).After(now)
}
