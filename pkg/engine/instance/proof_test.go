package instance_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

func TestAProofIsOfTheNewestCommitAlone(t *testing.T) {
	shown := &verdict.Judgement{Kind: verdict.Code, Shown: true}
	unproven := &verdict.Judgement{Kind: verdict.Code, Unproven: "all tests passed before, too"}
	text := &verdict.Judgement{Kind: verdict.Documents, Unproven: "the change is of documents alone"}
	waived := &verdict.Judgement{Kind: verdict.Code, Unproven: "all tests passed before, too", Waived: "ann"}
	draft := map[string]any{"unproven": "draft", "documents": "allow"}
	refuse := map[string]any{"unproven": "refuse", "documents": "ask"}
	for name, c := range map[string]struct {
		evidence []instance.Evidence
		head     string
		shown    bool
		reason   string
		draft    string // what the policy draft wants
		refuse   string // what the policy refuse wants
	}{
		"no work":               {nil, "", false, "", "allow", "allow"},
		"the base itself":       {nil, "base", false, "", "allow", "allow"},
		"not tested":            {nil, "c", false, "the newest commit was not tested", "draft", "refuse"},
		"tested and shown":      {[]instance.Evidence{{Name: "tests", Commit: "c", Judgement: shown}}, "c", true, "", "allow", "allow"},
		"shown before a commit": {[]instance.Evidence{{Name: "tests", Commit: "b", Judgement: shown}}, "c", false, "the newest commit was not tested", "draft", "refuse"},
		"all passed before":     {[]instance.Evidence{{Name: "tests", Commit: "c", Judgement: unproven}}, "c", false, "all tests passed before, too", "draft", "refuse"},
		"an older agent tested": {[]instance.Evidence{{Name: "tests", Commit: "c", Command: "go test", OK: true}}, "c", false, "the tests were not compared with those of the base", "draft", "refuse"},
		"documents":             {[]instance.Evidence{{Name: "tests", Commit: "c", Judgement: text}}, "c", false, "the change is of documents alone", "allow", "ask"},
		"acceptance criteria":   {[]instance.Evidence{{Name: "acceptance", Commit: "c", Judgement: shown}}, "c", true, "", "allow", "allow"},
		"a person accepts it":   {[]instance.Evidence{{Name: "tests", Commit: "c", Judgement: waived}}, "c", false, "all tests passed before, too", "allow", "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			p := instance.Instance{Base: "base", Head: c.head, Evidence: c.evidence}.Shown()
			if p.Shown != c.shown || p.Reason != c.reason || p.Unproven() != (c.reason != "") {
				t.Errorf("%+v", p)
			}
			if got := p.Policy(draft); got != c.draft {
				t.Errorf("unproven: draft wants %s, want %s", got, c.draft)
			}
			if got := p.Policy(refuse); got != c.refuse {
				t.Errorf("unproven: refuse wants %s, want %s", got, c.refuse)
			}
			if got := p.Policy(nil); got != "allow" {
				t.Errorf("a lifecycle without the policy wants %s", got)
			}
		})
	}
}
