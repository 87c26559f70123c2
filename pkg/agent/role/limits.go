package role

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// DefaultLimits returns what a brain or a test run may use if nothing is said. It is
// more than builds need, and less than a machine has.
func DefaultLimits() sandbox.Limits {
	return sandbox.Limits{
		Memory: 8 << 30, Disk: 20 << 30, FileSize: 8 << 30, Processes: 4096, Files: 65536, CPU: 4 * time.Hour,
	}
}

// ParseLimits reads limits of the form NAME=VALUE, in addition to the default ones. A value
// of 0 is none.
func ParseLimits(texts []string) (sandbox.Limits, error) {
	l := DefaultLimits()
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		var err error
		switch name {
		case "memory":
			l.Memory, err = size(value)
		case "disk":
			l.Disk, err = size(value)
		case "file-size":
			l.FileSize, err = size(value)
		case "processes":
			l.Processes, err = strconv.Atoi(value)
		case "files":
			l.Files, err = strconv.Atoi(value)
		case "cpu":
			l.CPU, err = time.ParseDuration(value)
		default:
			return l, fmt.Errorf("--limit %s: want memory, disk, file-size, processes, files or cpu", text)
		}
		if err != nil || l.Memory < 0 || l.Disk < 0 || l.FileSize < 0 || l.Processes < 0 || l.Files < 0 || l.CPU < 0 {
			return l, fmt.Errorf("--limit %s: want a size such as 8GiB, a number, or for cpu a time such as 1h", text)
		}
	}
	return l, nil
}

// size reads a number of bytes, of KiB, MiB or GiB.
func size(text string) (int64, error) {
	shift := 0
	for unit, bits := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			text, shift = number, bits
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n > 1<<(62-shift) {
		err = fmt.Errorf("%s is too much", text)
	}
	return n << shift, err
}
