package workflow

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const over = `workflow: large
version: 2
extends: small
initial: triage
policy: {most: 7, extra: "x"}
limits:
  - {name: budget, when: instance.iteration >= policy.most, to: done}
  - {name: second, when: policy.extra == 'y', to: done}
gates:
  - {name: checked, to: done, require: "'lint' in evidence", instead: waiting}
states:
  open:
    owner: tester
    timeout: 1h
    next: [{to: triage, added: ours}]
  waiting:
    on:
      commented: triage
  triage:
    owner: pm
    next: [open]
    decide: [{to: open}]
`

func TestAnOverlayAddsAndReplaces(t *testing.T) {
	base := loaded(t, small)
	d, err := Load("over.yaml", []byte(over), base)
	if err != nil {
		t.Fatal(err)
	}
	open, _ := d.State("open")
	waiting, _ := d.State("waiting")
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"name and version are its own", []any{d.Name, d.Version, d.Extends}, []any{"large", 2, "small"}},
		{"initial is replaced", d.Initial, "triage"},
		{"policy is replaced and added to", d.Policy, map[string]any{"most": int64(7), "sure": 0.5, "extra": "x"}},
		{"the loop stays", d.Loop, Loop{3, 2}},
		{"limits are replaced by name and added to", []string{d.Limits[0].When.Source, d.Limits[1].Name}, []string{"instance.iteration >= policy.most", "second"}},
		{"gates are replaced by name", []any{len(d.Gates), d.Gates[0].Require.Source}, []any{1, "'lint' in evidence"}},
		{"an owner is replaced", open.Owner, "tester"},
		{"a timeout is replaced", open.Timeout, time.Hour},
		{"what is not said stays", []any{open.About, len(open.Decide)}, []any{"A person works.", 2}},
		{"a row is added to", open.row(), []string{"open", "waiting", "done", "triage"}},
		{"an addition is marked", open.Next[3].Added, "ours"},
		{"a reaction is replaced by signal", waiting.On["commented"][0].To, []string{"triage"}},
		{"other reactions stay", waiting.On["abandoned"][0].To, []string{"done"}},
		{"new states come last", d.StateNames(), []string{"open", "waiting", "done", "triage"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// waiting → triage is not in the row: Verify's to say, not Load's.
			if diff := cmp.Diff(c.want, c.got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("the base is untouched", func(t *testing.T) {
		if got, want := string(base.Source()), string(loaded(t, small).Source()); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("its source is complete without the base", func(t *testing.T) {
		again, err := Load("stored", d.Source())
		if err != nil {
			t.Fatal(err)
		}
		if again.Hash != d.Hash {
			t.Errorf("hash %s, want %s", again.Hash, d.Hash)
		}
	})
}

func TestAnOverlayIsCheckedAsAWhole(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"a policy of another type breaks the base's guard", `most: 7`, `most: "7"`, `small.yaml:17`},
		{"an unknown state", "commented: triage", "commented: triag", `over.yaml:18:18: unknown state "triag"; did you mean "triage"?`},
		{"a move the base has", "{to: triage, added: ours}", "done", `over.yaml:15:12: done is in the row of open twice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := loaded(t, strings.Replace(small, "> policy.sure", "> policy.sure && policy.most > 2", 1))
			_, err := Load("over.yaml", []byte(strings.Replace(over, c.old, c.new, 1)), base)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

const overRich = `workflow: richer
version: 1
extends: rich
entries: [review]
vars: {round: 7, extra: "x"}
order: [vars.round]
may: {cancel: lead, pause: human}
resolves: {commented: true, closed: vars.asked}
states:
  open:
    always: [{when: vars.extra == 'y', to: dropped}]
    writes: notes
    tell: true
  review:
    asks: [{to: dev, text: why?}]
  dropped:
    spawns: [{when: vars.asked, workflow: issue}]
`

func TestAnOverlayAddsAndReplacesInARichDefinition(t *testing.T) {
	base := loaded(t, rich)
	before := string(base.Source())
	d, err := Load("over.yaml", []byte(overRich), base)
	if err != nil {
		t.Fatal(err)
	}
	open, _ := d.State("open")
	review, _ := d.State("review")
	dropped, _ := d.State("dropped")
	for name, c := range map[string]struct{ got, want any }{
		"entries are added to":          {d.Entries, []string{"pushed", "review"}},
		"vars are replaced and added":   {d.Vars, map[string]any{"round": int64(7), "phase": "none", "sure": 0.5, "asked": false, "extra": "x"}},
		"the order is replaced":         {[]any{len(d.Order), d.Order[0].Source}, []any{1, "vars.round"}},
		"may is replaced by action":     {d.May, map[string][]string{"override": {"lead", "human"}, "cancel": {"lead"}, "pause": {"human"}}},
		"resolves by signal":            {each(d.Resolves, func(r Resolve) string { return r.Signal + ": " + r.When.Source }), []string{"approved: true", "closed: vars.asked", "commented: true"}},
		"always rules are replaced":     {[]any{len(open.Always), open.Always[0].When.Source}, []any{1, "vars.extra == 'y'"}},
		"sections are replaced":         {open.Writes, []string{"notes"}},
		"questions that are not stay":   {len(open.Asks), 1},
		"telling is added":              {open.Tell, true},
		"questions are added":           {review.Asks[0].Text, "why?"},
		"spawns are replaced":           {[]any{len(dropped.Spawns), dropped.Spawns[0].Workflow}, []any{1, "issue"}},
		"the base is untouched by it":   {string(base.Source()), before},
		"a stay still has its duration": {open.Decide[1].Stay.After.Minutes(), 15.0},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	again, err := Load("stored", d.Source())
	if err != nil || again.Hash != d.Hash {
		t.Errorf("its source gives %v, %v", again, err)
	}
}
