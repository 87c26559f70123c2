package bundle

import "github.com/signalbox/signalbox/pkg/engine/instance"

// Names is what commits name outside the log.
type Names struct {
	Definitions map[string]bool   // by hash
	Objects     map[string]string // by name: the SHA-256, or "" if the log has none
}

func newNames() Names { return Names{map[string]bool{}, map[string]string{}} }

func (n Names) add(c instance.Commit) {
	for _, e := range c.Events {
		switch e := e.(type) {
		case instance.Opened:
			n.Definitions[e.Definition] = true
			n.object(e.Bundle, "")
			for _, b := range e.Bundles {
				n.object(b.Object, "")
			}
		case instance.Migrated:
			n.Definitions[e.Definition] = true
		case instance.Reported:
			n.object(e.Result.Bundle, "")
			n.artifacts(e.Result.Artifacts)
		case instance.Handed:
			n.object(e.Bundle, "")
			n.artifacts(e.Artifacts)
		}
	}
}

func (n Names) artifacts(all []instance.Artifact) {
	for _, a := range all {
		n.object(a.Object, a.SHA256)
	}
}

func (n Names) object(name, sha256 string) {
	if name != "" && n.Objects[name] == "" {
		n.Objects[name] = sha256
	}
}
