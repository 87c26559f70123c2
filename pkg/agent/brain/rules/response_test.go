package rules_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestReviewersAreToldWhatWasDone(t *testing.T) {
	ev := instance.Evidence{Name: "acceptance", OK: true, Command: "make check", Commit: strings.Repeat("a", 40)}
	for name, c := range map[string]struct {
		response rules.Response
		want     []string
	}{
		"when something was changed": {
			rules.Response{Commit: strings.Repeat("a", 40), Summary: "Renamed it, @ann. Fixes #7", Tests: ev, Remarks: []string{"http://forge/1"}},
			[]string{"I worked this in with `aaaaaaaaaaaa`.", "> Renamed it, @ ann. Fixes # 7", "`make check` on `aaaaaaaaaaaa`: passes.", "- http://forge/1"},
		},
		"when nothing was": {rules.Response{Summary: "It is right as it is.", Tests: ev}, []string{"changed nothing", "> It is right as it is."}},
	} {
		t.Run(name, func(t *testing.T) {
			got := rules.Responded(c.response)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}
