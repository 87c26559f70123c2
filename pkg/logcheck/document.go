package logcheck

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/pkg/instance"
)

// handed: only who holds a claim has got anywhere.
func (t *trail) handed(e instance.Handed) {
	if !t.live() {
		t.say(Fence, "work is handed over at %s, and nobody holds a claim", stamp(t.now))
		return
	}
	t.wrote(t.claim().Role, e.Sections)
}

// wrote: a section is written by a role that may, and is JSON.
func (t *trail) wrote(role string, sections map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		switch {
		case t.table != nil && !slices.Contains(t.table.WrittenBy(role), name):
			t.say(Document, "section %q is written by %s; want a role that the definition lets write it", name, role)
		case !json.Valid([]byte(sections[name])):
			t.say(Document, "section %q is not JSON", name)
		}
	}
}
