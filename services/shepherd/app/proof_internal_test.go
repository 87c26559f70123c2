package app

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

func TestUnprovenWorkIsMergedOnlyByAPerson(t *testing.T) {
	const head = "c2"
	judged := func(j verdict.Judgement) []instance.Evidence {
		j.Change = head
		if j.Base == "" {
			j.Base = "c0"
		}
		return []instance.Evidence{{Name: "acceptance", OK: true, Commit: head, Command: "make check", Judgement: &j}}
	}
	unproven := judged(verdict.Judgement{Unproven: "all tests that ran passed before the change as well"})
	for name, c := range map[string]struct {
		evidence []instance.Evidence
		policy   string
		vars     map[string]string
		draft    bool
		want     merge.Verdict
		readied  string
	}{
		"shown":                                    {judged(verdict.Judgement{Shown: true}), "draft", nil, true, merge.Pass, ""},
		"shown, and we ended the draft":            {judged(verdict.Judgement{Shown: true}), "draft", map[string]string{"readied": "us"}, false, merge.Pass, "us"},
		"an unproven draft":                        {unproven, "draft", nil, true, merge.Pending, ""},
		"untested, a draft":                        {nil, "draft", nil, true, merge.Pending, ""},
		"unproven, and a person ended the draft":   {unproven, "draft", nil, false, merge.Pass, "person"},
		"more work after a person ended the draft": {unproven, "draft", map[string]string{"readied": "person"}, false, merge.Pass, "person"},
		"unproven after we ended the draft":        {unproven, "draft", map[string]string{"readied": "us"}, false, merge.Pending, "us"},
		"untested after we ended the draft":        {nil, "draft", map[string]string{"readied": "us"}, false, merge.Pending, "us"},
		"a draft again, by a person":               {unproven, "draft", map[string]string{"readied": "us"}, true, merge.Pending, ""},
		"opened as a draft by the issue lifecycle": {nil, "allow", map[string]string{"unproven": "true"}, true, merge.Pending, ""},
		"the same, and a person ended the draft":   {nil, "allow", map[string]string{"unproven": "true"}, false, merge.Pass, "person"},
		"shown by the issue lifecycle":             {nil, "draft", map[string]string{"shown_at": head}, false, merge.Pass, "us"},
		"more work on what it showed":              {judged(verdict.Judgement{Base: "c1", Unproven: "none"}), "draft", map[string]string{"shown_at": "c1", "readied": "us"}, false, merge.Pass, "us"},
		"other work than it showed":                {unproven, "draft", map[string]string{"shown_at": "c1", "readied": "us"}, false, merge.Pending, "us"},
		"a commit of others on what it showed":     {nil, "draft", map[string]string{"shown_at": "c1", "readied": "us"}, false, merge.Pending, "us"},
		"asked, and nobody has answered":           {unproven, "ask", nil, true, merge.Pending, ""},
		"asked, and no draft":                      {unproven, "ask", nil, false, merge.Pending, "person"},
		"asked, and a person accepted it":          {judged(verdict.Judgement{Unproven: "none", Waived: "ann"}), "ask", nil, true, merge.Pass, ""},
		"refused":                                  {unproven, "refuse", nil, true, merge.Fail, ""},
		"refused, though a person ended the draft": {unproven, "refuse", map[string]string{"readied": "person"}, false, merge.Fail, "person"},
		"allowed": {unproven, "allow", nil, true, merge.Pass, ""},
		"documents, which need no proof by policy":   {judged(verdict.Judgement{Kind: verdict.Documents, Unproven: "documents"}), "draft", nil, true, merge.Pass, ""},
		"of a lifecycle without the policy unproven": {unproven, "", nil, true, merge.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := &visit{snapshot: merge.Snapshot{Head: head, Draft: c.draft}}
			v.job.Base, v.job.Head, v.job.Evidence, v.job.Vars = "c0", head, c.evidence, c.vars
			if c.policy != "" {
				v.job.Policy = map[string]any{"unproven": c.policy, "documents": "allow"}
			}
			s := v.standing()
			g := s.gate()
			if g.Name != gateShown || g.Verdict != c.want || g.Reason == "" {
				t.Errorf("the gate is %+v, want %s", g, c.want)
			}
			if g.Verdict != merge.Pass && !strings.HasPrefix(g.Reason, "unproven: ") {
				t.Errorf("the reason is %q", g.Reason)
			}
			if got := s.readiedBy(); got != c.readied {
				t.Errorf("the draft was ended by %q, want %q", got, c.readied)
			}
		})
	}
}
