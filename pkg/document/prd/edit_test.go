package prd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/document/prd"
)

func source(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

func TestNothingButWhatChangedIsChanged(t *testing.T) {
	for name, c := range map[string]struct {
		file     string
		progress map[string]prd.Progress
		change   []string // old and new, in turn
	}{
		"nothing": {"stories.json", nil, nil},
		"what is as it was": {"stories.json", map[string]prd.Progress{
			"S-1": {Status: prd.Pending}, "2": {Status: prd.Merged, PR: 7}, "S-3": {Status: prd.Pushed, PR: 9, LastActivityBy: "reviewer", Branch: "wave"},
		}, nil},
		"a story that is pushed": {"stories.json", map[string]prd.Progress{"S-1": {Status: prd.Pushed, PR: 11, LastActivityBy: "bot", Branch: "x/hello"}}, []string{
			"\"status\": \"pending\",\n      \"branchName\": null,\n      \"prNumber\": null,\n      \"lastActivityBy\": null",
			"\"status\": \"pushed\",\n      \"branchName\": \"x/hello\",\n      \"prNumber\": 11,\n      \"lastActivityBy\": \"bot\"",
		}},
		"a story that is answered": {"stories.json", map[string]prd.Progress{"S-3": {Status: prd.Pushed, PR: 9, LastActivityBy: "bot"}}, []string{`"reviewer"`, `"bot"`}},
		"a story that has no place for it": {"stories.json", map[string]prd.Progress{"2": {Status: prd.Invalid, PR: 7, LastActivityBy: "bot"}}, []string{
			`"status": "merged", "prNumber": 7 }`, `"status": "invalid", "prNumber": 7, "lastActivityBy": "bot" }`,
		}},
		"a story that is unknown":            {"stories.json", map[string]prd.Progress{"S-9": {Status: prd.Merged}}, nil},
		"a story that tells if it passes":    {"user-stories.json", map[string]prd.Progress{"US-001": {Status: prd.Merged, PR: 4, Branch: "b"}}, []string{`"passes": false`, `"passes": true`}},
		"a story that does not pass yet":     {"user-stories.json", map[string]prd.Progress{"US-001": {Status: prd.Pushed, PR: 4}}, nil},
		"a story that passes no more":        {"user-stories.json", map[string]prd.Progress{"US-002": {Status: prd.Pending}}, []string{`"passes": true`, `"passes": false`}},
		"a story of the other shape skipped": {"user-stories.json", map[string]prd.Progress{"US-001": {Status: prd.Skipped}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := source(t, c.file)
			for i := 0; i < len(c.change); i += 2 {
				if strings.Count(want, c.change[i]) != 1 {
					t.Fatalf("%q is not there once", c.change[i])
				}
				want = strings.Replace(want, c.change[i], c.change[i+1], 1)
			}
			if diff := cmp.Diff(want, string(load(t, c.file).Update(c.progress))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPlaceIsMadeAsTheFileIsWritten(t *testing.T) {
	for src, want := range map[string]string{
		`{"stories":[{"id":"A"}]}`: `{"stories":[{"id":"A","status":"pushed","prNumber":3,"lastActivityBy":"bot"}]}`,
		"\ufeff{\"stories\": [\r\n\t{\r\n\t\t\"id\": \"A\"\r\n\t}\r\n]}\r\n": "\ufeff{\"stories\": [\r\n\t{\r\n\t\t\"id\": \"A\",\r\n\t\t\"status\": \"pushed\",\r\n\t\t\"prNumber\": 3,\r\n\t\t\"lastActivityBy\": \"bot\"\r\n\t}\r\n]}\r\n",
	} {
		f, err := prd.Parse("prd.json", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		got := string(f.Update(map[string]prd.Progress{"A": {Status: prd.Pushed, PR: 3, LastActivityBy: "bot"}}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestWhatIsWrittenIsReadAgain: whatever the file looks like, what was put in is
// what a reader finds, and the rest is what it was.
func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom([]string{"", " ", "\n", "\t", "\r\n  "})
		blank := func() string { return space.Draw(t, "space") }
		status := rapid.SampledFrom(prd.Statuses())
		by := rapid.SampledFrom([]string{"", "bot", "reviewer"})
		var b strings.Builder
		progress := map[string]prd.Progress{}
		b.WriteString("{" + blank() + `"stories":` + blank() + "[")
		n := rapid.IntRange(0, 4).Draw(t, "stories")
		for i := range n {
			if i > 0 {
				b.WriteString("," + blank())
			}
			id := fmt.Sprint("S", i)
			fmt.Fprintf(&b, "{%s\"id\":%s%q", blank(), blank(), id)
			for _, field := range rapid.Permutation([]string{`"prNumber": 5`, `"lastActivityBy":null`, `"branchName" : "b"`, `"x":[1,{"status":"x"}]`, `"title": "é\"}"`}).Draw(t, "fields") {
				if strings.Contains(field, "prNumber") || rapid.Bool().Draw(t, "there") {
					b.WriteString("," + blank() + field)
				}
			}
			fmt.Fprintf(&b, ",%s\"status\"%s:%s%q%s}", blank(), blank(), blank(), prd.Pushed, blank())
			progress[id] = prd.Progress{Status: status.Draw(t, "status"), PR: rapid.IntRange(1, 9).Draw(t, "pr"), LastActivityBy: by.Draw(t, "by"), Branch: "b"}
		}
		b.WriteString("]" + blank() + "}")
		f, err := prd.Parse("prd.json", []byte(b.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		out := f.Update(progress)
		g, err := prd.Parse("prd.json", out)
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		for _, s := range g.Stories {
			if p := progress[s.ID]; s.Status != p.Status || s.PR != p.PR || s.LastActivityBy != p.LastActivityBy {
				t.Errorf("%s is %+v, want %+v in\n%s", s.ID, s, p, out)
			}
		}
		if before, after := rest(t, b.String()), rest(t, string(out)); before != after {
			t.Errorf("the rest went from %s to %s", before, after)
		}
		if again := g.Update(progress); string(again) != string(out) {
			t.Errorf("written again it is\n%s\nnot\n%s", again, out)
		}
	})
}

// rest is a plan without what Update may change.
func rest(t *rapid.T, src string) string {
	var plan struct{ Stories []map[string]any }
	if err := json.Unmarshal([]byte(src), &plan); err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.Stories {
		for _, key := range []string{"status", "prNumber", "lastActivityBy"} {
			delete(s, key)
		}
	}
	out, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
