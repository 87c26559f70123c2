// Package machine reads what a measurement reports of the computer it runs on. That is its
// processor and versions, the load of other processes, the flushes of its disk.
package machine

import (
	"bufio"
	"os"
	"runtime"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
)

// Info describes the machine and the software of a measurement.
type Info struct {
	CPU    string        `json:"cpu"` // its model
	Cores  int           `json:"cores"`
	OS     string        `json:"os"`
	Kernel string        `json:"kernel"`
	Go     string        `json:"go"`
	NATS   string        `json:"nats_server"` // version of the embedded and the separate server
	Client string        `json:"nats_go"`
	Build  service.Build `json:"build"`
}

// Read returns the Info of this machine. A value that cannot be read is "unknown".
func Read() Info {
	return Info{
		CPU: field("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: readLine("/proc/sys/kernel/osrelease"), Go: runtime.Version(), NATS: server.VERSION, Client: nats.Version,
		Build: service.ReadBuild(),
	}
}

const unknown = "unknown"

// readLine returns the content of a file without surrounding blanks.
func readLine(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return unknown
	}
	return strings.TrimSpace(string(b))
}

// field returns the value of the first line "name : value".
func field(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return unknown
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}
