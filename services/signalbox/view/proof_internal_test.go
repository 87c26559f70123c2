package view

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

func TestTheDifferencesOfTestsAreListedAKindALine(t *testing.T) {
	j := verdict.Judgement{
		Broken:       verdict.NamesOf([]string{"TestA"}),
		BaseFailures: verdict.Names{Names: []string{"T1", "T2", "T3", "T4", "T5", "T6"}, More: 4},
		Flaky:        []verdict.Flake{{Name: "TestTime"}},
		Accepted:     []verdict.Accepted{{Name: "TestOld", By: "ann"}},
		Findings:     []string{"1 file that runs the tests was changed"},
	}
	want := "broken by the change: TestA\nfailed before the change, too: T1, T2, T3, T4, T5 and 5 more\nflaky: TestTime\n" +
		"TestOld: ann accepted its change\n1 file that runs the tests was changed"
	if got := strings.Join(differences(j), "\n"); got != want {
		t.Errorf("the differences are\n%s\nwant\n%s", got, want)
	}
	if got := differences(verdict.Judgement{}); len(got) != 0 {
		t.Errorf("without differences the lines are %q", got)
	}
}
