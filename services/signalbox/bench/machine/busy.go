package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/stat on Linux.
const tick = 10 * time.Millisecond

// Busy returns the CPU time of all processes on all cores since the machine was started.
// Time that the hypervisor took counts, too. It returns an error on systems other than
// Linux.
func Busy() (time.Duration, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("the CPU time of other processes is not known: %w", err)
	}
	return busy(string(b))
}

func busy(stat string) (time.Duration, error) {
	first, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(first) // cpu user nice system idle iowait irq softirq steal …
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %.80q, want the times of all cpus", first)
	}
	var sum time.Duration
	for i, f := range fields[1:9] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		if idle, waits := i == 3, i == 4; !idle && !waits {
			sum += time.Duration(n) * tick
		}
	}
	return sum, nil
}
