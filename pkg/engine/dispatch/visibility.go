package dispatch

import "time"

// Time is counted in slots. Work that was put into a queue in the current slot or the one
// before is not visible there yet. It may be on its way to an agent.
const (
	timeSlot        = 10 * time.Millisecond
	visibilityDelay = 2 * timeSlot
)

// currentSlot returns the slot of the current time. It is for waiting only: decisions
// have a time of their own.
func currentSlot() int64 { return time.Now().UnixNano() / int64(timeSlot) }

// visibility counts the work in a queue.
type visibility struct {
	all   int
	young [2]struct { // in the newest two slots
		slot int64
		n    int
	}
}

func (v *visibility) add(slot int64) {
	v.all++
	y := &v.young[slot&1]
	if y.slot != slot {
		y.slot, y.n = slot, 0
	}
	y.n++
}

func (v *visibility) remove(slot int64) {
	v.all--
	if y := &v.young[slot&1]; y.slot == slot {
		y.n--
	}
}

// visible returns how much of the work is visible in slot now.
func (v *visibility) visible(now int64) int {
	n := v.all
	for _, y := range v.young {
		if y.slot >= now-1 {
			n -= y.n
		}
	}
	return n
}
