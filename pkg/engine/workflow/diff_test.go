package workflow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDiffSaysWhatIsNewGoneOrAnother(t *testing.T) {
	for _, c := range []struct {
		name   string
		change []string
		want   []string
	}{
		{"nothing", []string{"workflow: rich", "workflow:   rich"}, nil},
		{"the version", []string{"version: 1", "version: 2"}, []string{"~ version: 1 → 2"}},
		{"the initial state and the entries", []string{"initial: open\nentries: [pushed]", "initial: review\nentries: [open]"},
			[]string{"~ initial: open → review", "- entry: pushed", "+ entry: open"}},
		{"policy", []string{"most: 3", "most: 4, spare: true"}, []string{"~ policy of most: 3 → 4", "+ policy of spare: true"}},
		{"a policy's type", []string{"most: 3", `most: "3"`, ">= policy.most", ">= 3", "> policy.most,", "> 3,", "> policy.most", "> 3"},
			[]string{`~ policy of most: 3 → "3"`,
				"- limit: stuck: when instance.failures >= policy.most → review, dropped", "- limit: long: when instance.returns > policy.most, people are asked: over ${policy.most}",
				"+ limit: stuck: when instance.failures >= 3 → review, dropped", "+ limit: long: when instance.returns > 3, people are asked: over ${policy.most}",
				"- always rule of open: when instance.visits['open'] > policy.most → dropped, set phase = late", "+ always rule of open: when instance.visits['open'] > 3 → dropped, set phase = late"}},
		{"vars", []string{"round: 0, ", "round: 2, "}, []string{"~ var of round: 0 → 2"}},
		{"the order", []string{`"'URGENT' in issue.labels ? 0 : 1", instance.iteration`, `instance.iteration, "'URGENT' in issue.labels ? 0 : 1"`},
			[]string{"~ order of rank: 'URGENT' in issue.labels ? 0 : 1; instance.iteration → instance.iteration; 'URGENT' in issue.labels ? 0 : 1"}},
		{"who may do what", []string{"cancel: human", "pause: human"}, []string{"- right of cancel: human", "+ right of pause: human"}},
		{"what resolves", []string{", approved: true", ""}, []string{"- resolving signal of approved: true"}},
		{"an owner, a deadline, a meaning", []string{"owner: lead\n    timeout: 1h", "owner: dev\n    timeout: 90m\n    about: Again.", "override: [lead, human]", "override: human", "to: lead, text", "to: dev, text"},
			[]string{"~ right of override: lead, human → human",
				"- question of open: when !vars.asked, lead is asked: how, in ${policy.patience}?", "+ question of open: when !vars.asked, dev is asked: how, in ${policy.patience}?",
				"~ owner of review: lead → dev", "~ timeout of review: 1h → 1h30m", "+ meaning of review: Again."}},
		{"a row", []string{"[open, pushed, review, dropped]", "[{to: open, added: why}, review, pushed, dropped]"},
			[]string{"- move of open: open", "+ move of open: open (added: why)", "~ order of move of open: pushed; review; dropped → review; pushed; dropped"}},
		{"a rule", []string{"{when: vars.sure > 0.6, stay: 1h}", "{when: vars.sure > 0.6, stay: 2h}"},
			[]string{"- rule of review: when vars.sure > 0.6, stay for 1h", "+ rule of review: when vars.sure > 0.6, stay for 2h"}},
		{"a reaction", []string{"merged: dropped", "merged: [{escalate: true, reason: look}]"},
			[]string{"- reaction to merged of pushed: otherwise → dropped", "+ reaction to merged of pushed: otherwise, people are asked: look"}},
		{"what is opened, and told", []string{"state: pushed, reason: again", "reason: again", "tell: true", "tell: false"},
			[]string{"- telling of pushed: people", "- spawn of dropped: when vars.phase == 'late', a story is opened in pushed: again", "+ spawn of dropped: when vars.phase == 'late', a story is opened: again"}},
		{"a state", []string{"  dropped:\n", "  lost: {final: true}\n  dropped:\n"}, []string{"+ state: lost"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := loaded(t, rich), loaded(t, mustReplace(t, rich, c.change...))
			if diff := cmp.Diff(c.want, lines(Diff(a, b))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if there, back := len(Diff(a, b)), len(Diff(b, a)); there != back {
				t.Errorf("%d changes there, %d back", there, back)
			}
		})
	}
}

func lines(changes []Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.String())
	}
	return out
}

func TestAChangeIsJSON(t *testing.T) {
	a, b := loaded(t, small), loaded(t, strings.Replace(small, "15m", "16m", 1))
	got, err := json.Marshal(Diff(a, b))
	if want := `[{"what":"timeout","of":"open","was":"15m","is":"16m"}]`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestDefinitionsDifferIfTheirHashesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, err := Load("a.yaml", generated(t).Source())
		if err != nil {
			t.Fatal(err)
		}
		b, err := Load("b.yaml", generated(t).Source())
		if err != nil {
			t.Fatal(err)
		}
		if changes := Diff(a, a); changes != nil {
			t.Errorf("it differs from itself: %v", changes)
		}
		if changes := Diff(a, b); (len(changes) > 0) != (a.Hash != b.Hash) {
			t.Errorf("the hashes are %s and %s, the changes %v", a.Hash, b.Hash, changes)
		}
	})
}
