package sandbox

import (
	"fmt"
	"time"
)

// limited returns a command line that sets the limits and then runs the command. A
// shell sets them in the process that becomes the command. It stands in for the
// helper where there is none. A limit that is lower already stays.
func (c Command) limited() []string {
	l := c.Limits
	if l.CPU == 0 && l.FileSize == 0 && l.Files == 0 {
		return c.Argv
	}
	set := "ulimit -c 0; "
	for _, limit := range []struct {
		letter string
		value  int64
	}{
		{"t", int64((l.CPU + time.Second - 1) / time.Second)},
		{"f", (l.FileSize + 511) / 512}, // POSIX counts in blocks of 512 bytes
		{"n", int64(l.Files)},
	} {
		if limit.value > 0 {
			set += fmt.Sprintf("ulimit -%s %d 2>/dev/null; ", limit.letter, limit.value)
		}
	}
	return append([]string{"sh", "-c", set + `exec "$@"`, "sh"}, c.Argv...)
}
