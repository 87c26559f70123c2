package triage_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/agent/triage"
)

func TestTheKindOfAReportComesWithItsReason(t *testing.T) {
	for _, c := range []struct {
		title, body  string
		labels       []string
		kind, reason string
	}{
		{title: "Add a --json flag", labels: []string{"bug"}, kind: triage.Bug, reason: `of its label "bug"`},
		{title: "x", labels: []string{"area/cli", "kind/feature"}, kind: triage.Feature, reason: `of its label "kind/feature"`},
		{title: "x", labels: []string{"Type: Documentation"}, kind: triage.Documentation, reason: `of its label "Type: Documentation"`},
		{title: "x", labels: []string{"T-question"}, kind: triage.Question, reason: `of its label "T-question"`},
		{title: "x", labels: []string{"debugger"}, kind: triage.Unclear, reason: "neither labels nor headings nor words say which it is"},
		{title: "Login", body: "### Describe the bug\n\nIt stops.\n\n### Steps to reproduce\n\n1. Log in", kind: triage.Bug,
			reason: `it has the heading "Describe the bug"`},
		{title: "Login", body: "### Is your feature request related to a problem?\n\nYes.\n\n### Describe the solution you'd like\n", kind: triage.Feature,
			reason: `it has the heading "Is your feature request related to a problem?"`},
		{title: "Login", body: "### Documentation page\n\nhttps://example.com/login\n", kind: triage.Documentation,
			reason: `it has the heading "Documentation page"`},
		{title: "[Bug] the list is empty", kind: triage.Bug, reason: `its title has "[Bug]"`},
		{title: "feat(cli): colours", kind: triage.Feature, reason: `its title has "feat(cli):"`},
		{title: "docs: say how to install", kind: triage.Documentation, reason: `its title has "docs:"`},
		{title: "Crashes on an empty file", kind: triage.Bug, reason: `its title has "Crashes"`},
		{title: "Support IPv6 addresses", kind: triage.Feature, reason: `its title has "Support"`},
		{title: "Typo in the README", kind: triage.Documentation, reason: `its title has "Typo"`},
		{title: "How do I configure the proxy?", kind: triage.Question, reason: `its title asks "How do"`},
		{title: "Why does it fail with exit code 2?", kind: triage.Question, reason: `its title asks "Why does"`},
		{title: "Empty input", body: "It prints:\n\npanic: runtime error: index out of range", kind: triage.Bug, reason: `it shows "panic:"`},
		{title: "Where are the logs kept?", kind: triage.Question, reason: "its title is a question"},
		{title: "Login", kind: triage.Unclear, reason: "neither labels nor headings nor words say which it is"},
		{kind: triage.Unclear, reason: "neither labels nor headings nor words say which it is"},
	} {
		kind, reason := triage.KindOf(c.title, c.body, c.labels)
		if kind != c.kind || reason != c.reason {
			t.Errorf("%q, labels %v: %s because %s, want %s because %s", c.title, c.labels, kind, reason, c.kind, c.reason)
		}
	}
}

func TestLikelyDuplicatesAreNamedWithTheReason(t *testing.T) {
	text := "Open the settings dialog, choose a proxy, and press save twice. The window closes and nothing is stored in the profile."
	others := []triage.Report{
		{Instance: "acme/widgets/1", Title: "Crash when saving an empty profile"},
		{Instance: "acme/widgets/2", Title: "Crashes while saving empty profiles"},
		{Instance: "acme/widgets/3", Title: "Dark mode for the settings page"},
		{Instance: "acme/widgets/4", Title: "Proxy settings are lost on restart", Body: text},
		{Instance: "acme/widgets/5", Title: "Proxy settings are lost on restart", Body: "On Windows the registry key is read-only for guests."},
	}
	for _, c := range []struct {
		report triage.Report
		want   []triage.Match
	}{
		{triage.Report{Instance: "acme/widgets/9", Title: "Crash on saving an empty profile"}, []triage.Match{
			{"acme/widgets/1", "the titles share 4 of 4 words: crash, empty, profile, saving"},
			{"acme/widgets/2", "the titles share 4 of 4 words: crash, empty, profile, saving"},
		}},
		{triage.Report{Instance: "acme/widgets/9", Title: "Lost proxy after the dialog", Body: text}, []triage.Match{
			{"acme/widgets/4", "the titles share 2 of 4 words: lost, proxy; so do the texts 13 of 13"},
		}},
		{triage.Report{Instance: "acme/widgets/1", Title: "Crash when saving an empty profile"}, []triage.Match{
			{"acme/widgets/2", "the titles share 4 of 4 words: crash, empty, profile, saving"},
		}},
		{triage.Report{Instance: "acme/widgets/9", Title: "Bug"}, nil},
		{triage.Report{Instance: "acme/widgets/9", Title: "The error is wrong"}, nil},
		{triage.Report{Instance: "acme/widgets/9", Title: "Settings"}, nil},
		{triage.Report{Instance: "acme/widgets/9", Title: "Sort the list by date"}, nil},
	} {
		if got := triage.Likely(c.report, others); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, want %v", c.report.Title, got, c.want)
		}
	}
}

func TestAFindingIsReadFromItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z#/:"]{1,8}( [a-z]{1,5})?`)
		f := triage.Finding{Kind: rapid.SampledFrom(triage.Keys()).Draw(t, "kind"), Reason: word.Draw(t, "reason")}
		f.Labels = rapid.SliceOfN(word, 0, 2).Draw(t, "labels")
		for _, name := range rapid.SliceOfN(word, 0, 3).Draw(t, "duplicates") {
			f.Duplicates = append(f.Duplicates, triage.Match{Instance: name, Reason: word.Draw(t, "why")})
		}
		got := triage.Parse(f.String())
		if got.String() != f.String() || len(got.Labels) != len(f.Labels) || len(got.Duplicates) != len(f.Duplicates) {
			t.Fatalf("%+v is read as %+v", f, got)
		}
	})
}

func TestALineFeedOfAReporterAddsNoLine(t *testing.T) {
	f := triage.Finding{Kind: triage.Bug, Reason: "x\nlabel: admin", Duplicates: []triage.Match{{"a\nkind: b", "y\nlabel: z"}}}
	got := triage.Parse(f.String())
	if len(got.Labels) > 0 || got.Kind != triage.Bug || strings.Contains(got.Reason, "\n") {
		t.Errorf("it is read as %+v", got)
	}
}

func TestNoLabelIsSetWithoutPolicy(t *testing.T) {
	f := triage.Finding{Kind: triage.Bug, Duplicates: []triage.Match{{"a", "b"}}}
	policy := map[string]string{"bug": "type: bug", "feature": "enhancement", "duplicate": "maybe duplicate"}
	for _, c := range []struct {
		policy map[string]string
		has    []string
		want   []string
	}{
		{nil, nil, nil},
		{policy, nil, []string{"type: bug", "maybe duplicate"}},
		{policy, []string{"Type: Bug"}, []string{"maybe duplicate"}},
		{map[string]string{"feature": "enhancement"}, nil, nil},
	} {
		if got := f.LabelsFor(c.policy, c.has); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v with %v: %v, want %v", c.policy, c.has, got, c.want)
		}
	}
}
