package access_test

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
)

func TestEachCommandHasAPartyThatMayGiveIt(t *testing.T) {
	own := []string{subject.Expire, subject.Wake, subject.End} // the orchestrator's
	for _, command := range subject.Commands() {
		if len(access.Who(command)) == 0 != slices.Contains(own, command) {
			t.Errorf("table.go: %v may give %s: list the kinds of parties that may in may", access.Who(command), command)
		}
	}
}
