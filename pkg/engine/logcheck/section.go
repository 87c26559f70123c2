package logcheck

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// handed checks that progress is recorded under a live claim.
func (t *instanceChecker) handed(e instance.Handed) {
	if !t.claimLive() {
		t.report(Fence, "work is handed over at %s, and nobody holds a claim", stamp(t.now))
		return
	}
	t.checkSections(t.newestClaim().Role, e.Sections)
	t.headed(e.Head)
}

// checkSections checks that the role may write each section, and that it is JSON.
func (t *instanceChecker) checkSections(role string, sections map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		switch {
		case t.table != nil && !slices.Contains(t.table.WrittenBy(role), name):
			t.report(Document, "section %q is written by %s; want a role that the definition lets write it", name, role)
		case !json.Valid([]byte(sections[name])):
			t.report(Document, "section %q is not JSON", name)
		}
	}
}
