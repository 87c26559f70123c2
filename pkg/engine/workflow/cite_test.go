package workflow

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAGuardCitesTheEvidenceItNames(t *testing.T) {
	for source, want := range map[string][]string{
		"": nil,
		"instance.loop && 'tests' in instance.visits": nil,
		"'tests' in evidence":                         {"tests"},
		"evidence.tests.ok":                           {"tests"},
		"has(evidence.tests)":                         {"tests"},
		"evidence['tests'].ok && evidence['approval'].ok && 'tests' in evidence":                  {"approval", "tests"},
		"'checks' in evidence && evidence['checks'].data['name'] == 'x'":                          {"checks"},
		"[evidence['a'].ok, evidence.b.ok].exists(ok, ok) ? 'c' in evidence : size(evidence) > 0": {"a", "b", "c"},
		"evidence[instance.state].ok": nil,
	} {
		if diff := cmp.Diff(want, guardOf(t, source, nil).Cites()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

func TestAnOrderRanksByWholeNumbers(t *testing.T) {
	d := loaded(t, rich)
	for want, f := range map[int64]Facts{
		0: {Issue: IssueFacts{Labels: []string{"bug", "URGENT"}}},
		1: {Issue: IssueFacts{Labels: []string{"bug"}}},
	} {
		if got, err := d.Order[0].Rank(f); got != want || err != nil {
			t.Errorf("rank %d, %v; want %d", got, err, want)
		}
	}
}

func TestAGuardReadsAVarOrItsDefault(t *testing.T) {
	late := loaded(t, rich).States[3].Spawns[0].When
	for want, f := range map[bool]Facts{false: {}, true: {Vars: map[string]any{"vars.phase": "late"}}} {
		if got, err := late.Eval(f); got != want || err != nil {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}

func TestWithPolicyChangesHowLongAStayIs(t *testing.T) {
	d := loaded(t, rich)
	other, err := d.WithPolicy(map[string]any{"patience": "2h"})
	if err != nil {
		t.Fatal(err)
	}
	was, is := d.States[0].Decide[1].Stay.After, other.States[0].Decide[1].Stay.After
	if was != 15*time.Minute || is != 2*time.Hour {
		t.Errorf("stays of %v and %v, want 15m and 2h", was, is)
	}
	if d, err := d.WithPolicy(map[string]any{"patience": "soon"}); err == nil {
		t.Errorf("a patience of soon is taken: %v", d.Policy)
	}
}
