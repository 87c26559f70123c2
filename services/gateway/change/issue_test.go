package change

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
)

func TestOurMarkerIsNoPartOfTheTextOfAnIssue(t *testing.T) {
	if got := textOf(" A title\n", "Some text\r\n\r\n"+rules.Marker("a/b/1", "opens-issue")+"\n"); got != rules.NowReads+"A title\n\nSome text" {
		t.Errorf("%q", got)
	}
}
