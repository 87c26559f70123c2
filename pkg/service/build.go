package service

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// Build is the origin of a binary, as the Go tool recorded it.
type Build struct {
	Version  string `json:"version"`            // of the module; "(devel)" outside a repository
	Revision string `json:"revision,omitempty"` // commit
	Time     string `json:"time,omitempty"`     // of the commit, RFC 3339
	Modified bool   `json:"modified"`           // the tree had changes that were not committed
	Go       string `json:"go"`
}

// The linker sets version and revision where the Go tool knows neither, as in an image:
// -X github.com/signalbox/signalbox/pkg/service.version=v0.1.0.
var version, revision string

// ReadBuild returns that of the running binary.
func ReadBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: "(unknown)"}
	}
	b := Build{Version: cmp.Or(version, info.Main.Version, "(devel)"), Revision: revision, Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = cmp.Or(revision, s.Value)
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns the version and, in parentheses, the other fields.
func (b Build) String() string {
	var rest []string
	if b.Revision != "" {
		rest = append(rest, b.Revision[:min(12, len(b.Revision))])
	}
	if b.Modified {
		rest = append(rest, "modified")
	}
	if b.Time != "" {
		rest = append(rest, b.Time)
	}
	return b.Version + " (" + strings.Join(append(rest, b.Go), ", ") + ")"
}
