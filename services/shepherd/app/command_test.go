package app

import (
	"strings"
	"testing"
)

func TestACommandInACommentIsNoRemark(t *testing.T) {
	w := newEnv(t, "auto_merge: false")
	s := w.begin("US-1", 0).proposed()
	w.bob.status(s.head(), "success")
	w.ann.approve(s.pull)
	w.ann.comment(s.pull, "/signalbox status")
	w.ann.comment(s.pull, "/signalbox merge\r\n/signalbox budget +5")
	s.stands(s.told())
	if got := w.heard(); len(got) != 0 {
		t.Errorf("the developer was asked %q", got)
	}
	w.ann.comment(s.pull, "/signalbox status\n\nPlease write down how to run it.")
	s.told()
	if got := w.heard(); len(got) != 1 || !strings.Contains(got[0], "how to run it") || strings.Contains(got[0], "/signalbox") {
		t.Errorf("the developer was asked %q", got)
	}
}
