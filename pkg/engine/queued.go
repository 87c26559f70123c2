package engine

import "time"

// Time is told in slots. What was put into a queue in this one or the one before
// does not lie there yet.
const (
	slot = 10 * time.Millisecond
	lies = 2 * slot
)

// now is the slot that it is. It is for waiting only: decisions have their own time.
func now() int64 { return time.Now().UnixNano() / int64(slot) }

// queued is how many pieces of work are in a queue.
type queued struct {
	all   int
	young [2]struct { // those of the newest two slots
		slot int64
		n    int
	}
}

func (q *queued) add(slot int64) {
	q.all++
	y := &q.young[slot&1]
	if y.slot != slot {
		y.slot, y.n = slot, 0
	}
	y.n++
}

func (q *queued) remove(slot int64) {
	q.all--
	if y := &q.young[slot&1]; y.slot == slot {
		y.n--
	}
}

// lying is how many of them lie there.
func (q *queued) lying(now int64) int {
	n := q.all
	for _, y := range q.young {
		if y.slot >= now-1 {
			n -= y.n
		}
	}
	return n
}

// spot is a piece of work in a queue: whose, and since when.
type spot struct {
	at   *line
	slot int64
}
