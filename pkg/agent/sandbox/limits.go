package sandbox

import (
	"fmt"
	"strings"
	"time"
)

// limited returns a command line that sets the limits and then runs the command. A
// shell sets them in the process that becomes the command. It stands in for the
// helper where there is none.
func (c Command) limited() []string {
	l := c.Limits
	if l.CPU == 0 && l.FileSize == 0 && l.Files == 0 {
		return c.Argv
	}
	set := []string{"ulimit -c 0"}
	if l.CPU > 0 {
		set = append(set, fmt.Sprintf("ulimit -t %d", (l.CPU+time.Second-1)/time.Second))
	}
	if l.FileSize > 0 {
		set = append(set, fmt.Sprintf("ulimit -f %d", (l.FileSize+511)/512)) // POSIX counts in blocks of 512 bytes
	}
	if l.Files > 0 {
		set = append(set, fmt.Sprintf("ulimit -n %d", l.Files))
	}
	set = append(set, `exec "$@"`)
	return append([]string{"sh", "-c", strings.Join(set, " && "), "sh"}, c.Argv...)
}
