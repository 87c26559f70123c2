package term

import (
	"fmt"
	"time"
)

const day = 24 * time.Hour

// Duration formats d in at most two units: 850ms, 3.2s, 4m, 2h10m, 3d4h. A negative
// duration, which two clocks may lead to, is formatted as zero.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 9950*time.Millisecond: // rounds to less than 10.0
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute-time.Second/2:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < 10*time.Minute-time.Second/2:
		return units(d.Round(time.Second), time.Minute, "m", time.Second, "s")
	case d < time.Hour-time.Minute/2:
		return units(d.Round(time.Minute), time.Minute, "m", time.Minute, "m")
	case d < day-time.Minute/2:
		return units(d.Round(time.Minute), time.Hour, "h", time.Minute, "m")
	}
	return units(d.Round(time.Hour), day, "d", time.Hour, "h")
}

// units formats d as a number of the big unit and the rest in the small one.
func units(d, big time.Duration, name string, small time.Duration, rest string) string {
	s := fmt.Sprintf("%d%s", d/big, name)
	if left := d % big / small; left > 0 {
		s += fmt.Sprintf("%d%s", left, rest)
	}
	return s
}
