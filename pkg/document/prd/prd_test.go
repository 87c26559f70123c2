package prd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalbox/signalbox/pkg/document/prd"
)

func load(t *testing.T, name string) *prd.File {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := prd.Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestBothShapesAreRead(t *testing.T) {
	for name, want := range map[string][]prd.Story{
		"stories.json": {
			{ID: "S-1", Title: "Say hello", Priority: 2, Status: prd.Pending, Line: 4, Criteria: []prd.Criterion{
				{Text: "make greet", Command: "make greet"}, {Text: "The greeting is friendly"},
			}},
			{ID: "2", Title: `Say "bye"`, Priority: 1, Status: prd.Merged, PR: 7, Line: 18},
			{ID: "S-3", Title: "Wave", Priority: 100, Status: prd.Pushed, PR: 9, LastActivityBy: "reviewer", Branch: "wave", Issue: 12, Line: 19},
		},
		"user-stories.json": {
			{ID: "US-001", Title: "Say hello", Description: "As a user, I am greeted.", Priority: 1, Status: prd.Pending, Line: 5, Criteria: []prd.Criterion{
				{Text: "Tests pass"}, {Text: "npm run greet -- --loud from src/app", Command: "cd src/app && npm run greet -- --loud"},
			}},
			{ID: "US-002", Title: "Say bye", Priority: 2, Status: prd.Merged, Line: 7},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := load(t, name)
			if diff := cmp.Diff(want, f.Stories, cmpopts.IgnoreUnexported(prd.Story{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, s := range f.Stories {
				again, err := prd.ParseStory(s.JSON())
				again.Line = s.Line
				if diff := cmp.Diff(s, again, cmpopts.IgnoreUnexported(prd.Story{})); err != nil || diff != "" {
					t.Errorf("%s by itself: %v\n%s", s.ID, err, diff)
				}
			}
		})
	}
}

func TestAStoryIsToldInMarkdown(t *testing.T) {
	const want = "As a user, I am greeted.\n\n## Acceptance criteria\n\n- Tests pass\n- npm run greet -- --loud from src/app"
	if got := load(t, "user-stories.json").Stories[0].Text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatIsWrongIsNamedWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"a status of no story": {
			"{\"stories\": [\n {\"id\": \"A\", \"status\": \"pending\"},\n {\"id\": \"B\",\n  \"status\": \"in_review\"}\n]}",
			"prd.json:4: story B: status \"in_review\": want one of pending, committed, pushed, merged, skipped, invalid",
		},
		"all of them, and in the other shape": {
			"{\"userStories\": [{\"id\": 1, \"status\": \"done\"},\n{\"id\": 2, \"status\": \"pr_created\"},\n{\"id\": 3, \"status\": 7}]}",
			"prd.json:1: story 1: status \"done\": want one of pending, committed, pushed, merged, skipped, invalid\n" +
				"prd.json:2: story 2: status \"pr_created\": want one of pending, committed, pushed, merged, skipped, invalid\n" +
				"prd.json:3: story 3: status 7: want one of pending, committed, pushed, merged, skipped, invalid",
		},
		"a status spelt otherwise": {`{"stories": [{"id": "A", "status": "Merged"}]}`,
			`prd.json:1: story A: status "Merged": want one of pending, committed, pushed, merged, skipped, invalid`},
		"who acted last":              {`{"stories": [{"id": "A", "lastActivityBy": "me"}]}`, `prd.json:1: story A: lastActivityBy "me": want null, bot or reviewer`},
		"pushed where":                {`{"stories": [{"id": "A", "status": "pushed"}]}`, "prd.json:1: story A: it is pushed, but has no prNumber"},
		"a priority that is none":     {`{"stories": [{"id": "A", "priority": "high"}]}`, "prd.json:1: story A: priority is no whole number of 0 or more"},
		"an issue that is none":       {`{"stories": [{"id": "A", "issue": "soon"}]}`, "prd.json:1: story A: issue names no issue: want a number"},
		"passes that is no answer":    {`{"userStories": [{"id": "A", "passes": "yes"}]}`, "prd.json:1: story A: passes is neither true nor false"},
		"an id twice":                 {"{\"stories\": [{\"id\": \"A\"},\n{\"id\": \"A\"}]}", "prd.json:2: story A: there is one of this id on line 1 already"},
		"no id and no words":          {`{"stories": [{"passes": false}]}`, "prd.json:1: a story has no id, and no title or description to know it by"},
		"a key twice":                 {"{\"stories\": [{\"id\": \"A\", \"status\": \"merged\",\n\"status\": \"pending\"}]}", `prd.json:2: story A: "status" is there twice`},
		"a story that is none":        {`{"stories": ["A"]}`, "prd.json:1: a story is an object"},
		"a criterion that is none":    {`{"stories": [{"id": "A", "acceptanceCriteria": [1]}]}`, "prd.json:1: story A: an acceptance criterion is a text, or an object with a command"},
		"two plans":                   {`{"stories": [], "userStories": []}`, `prd.json:1: there are "stories" and "userStories": which of them is the plan?`},
		"no plan":                     {`{}`, `prd.json:1: this is no plan: want a list, or an object with one as "stories", "userStories", "tasks", "features", "items"`},
		"a plan that is no list":      {`{"stories": {}}`, `prd.json:1: "stories" is no list`},
		"no JSON":                     {"{\"stories\": [\n{\"id\": A}]}", "prd.json:2: this is no JSON: invalid character 'A' looking for beginning of value"},
		"JSON that ends in its midst": {"{\"stories\": [\n", "prd.json:2: this is no JSON: unexpected EOF"},
		"more behind it":              {"{\"stories\": []}\n{}", "prd.json:2: this is no JSON: there is more than one value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prd.Parse("prd.json", []byte(c.src))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
