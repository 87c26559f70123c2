package sandbox

import (
	"fmt"
	"strings"
	"time"
)

// limited is the command line with its limits set first. The shell does it in
// the process that then becomes the command, before anything of it runs.
func (c Command) limited() []string {
	l := c.Limits
	if l == (Limits{}) {
		return c.Argv
	}
	set := []string{"ulimit -c 0"}
	if l.CPU > 0 {
		set = append(set, fmt.Sprintf("ulimit -t %d", (l.CPU+time.Second-1)/time.Second))
	}
	if l.FileSize > 0 {
		set = append(set, fmt.Sprintf("ulimit -f %d", (l.FileSize+511)/512)) // POSIX counts in blocks of 512 bytes
	}
	if l.Memory > 0 {
		set = append(set, fmt.Sprintf("ulimit -v %d", (l.Memory+1023)/1024))
	}
	if l.Files > 0 {
		set = append(set, fmt.Sprintf("ulimit -n %d", l.Files))
	}
	set = append(set, `exec "$@"`)
	return append([]string{"sh", "-c", strings.Join(set, " && "), "sh"}, c.Argv...)
}
