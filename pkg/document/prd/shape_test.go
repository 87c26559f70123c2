package prd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/document/prd"
)

func TestKeysThatMeanNothingAreNamedOnceWithTheirLine(t *testing.T) {
	f, err := prd.Parse("prd.json", []byte(`{"project": "x", "version": 2,
		"userStories": [
			{"id": "A", "title": "a", "passes": true, "status": "pending", "notes": "by Ann", "issue": 3, "dependsOn": []},
			{"id": "B", "description": "b", "notes": "", "estimate": {"id": 1},
			 "acceptanceCriteria": [{"command": "make", "why": "so"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []prd.Ignored{{Key: "project", Line: 1, Count: 1}, {Key: "version", Line: 1, Count: 1}, {Key: "notes", Line: 3, Count: 2},
		{Key: "estimate", Line: 4, Count: 1}, {Key: "why", Line: 5, Count: 1}}
	if !slices.Equal(f.Ignored, want) {
		t.Errorf("ignored are %+v, want %+v", f.Ignored, want)
	}
}

func TestPlansOfAllCommonShapesAreRead(t *testing.T) {
	const story = `{"category": "ui", "description": "Show the total. In euros.", "steps": ["Open the cart", "` + "Run `make test`" + `"], "passes": false}`
	for name, src := range map[string]string{
		"a list":           `[` + story + `]`,
		"tasks":            `{"tasks": [` + story + `]}`,
		"features":         `{"features": [` + story + `]}`,
		"items":            `{"project": "x", "items": [` + story + `]}`,
		"stories":          `{"stories": [` + story + `]}`,
		"another in front": `[{"description": "New"}, ` + story + `]`,
	} {
		t.Run(name, func(t *testing.T) {
			f, err := prd.Parse("prd.json", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			s := f.Stories[len(f.Stories)-1]
			if !strings.HasPrefix(s.ID, "story-") || s.Title != "Show the total" || len(s.Criteria) != 2 || s.Commands()[0] != "make test" {
				t.Errorf("the story is %+v", s)
			}
			again, err := prd.ParseStory(s.JSON())
			if err != nil || again.ID != s.ID {
				t.Errorf("alone its id is %q, %v, want %q", again.ID, err, s.ID)
			}
			done := string(f.Update(map[string]prd.Progress{s.ID: {Status: prd.Merged}}))
			if done != strings.Replace(src, "false", "true", 1) {
				t.Errorf("with its progress the file is %s", done)
			}
		})
	}
}

func TestWhatAStoryDependsOnIsReadInAllItsSpellings(t *testing.T) {
	for _, key := range []string{"dependencies", "dependsOn", "depends_on", "blockedBy", "blocked_by"} {
		f, err := prd.Parse("prd.json", []byte(`{"userStories": [{"id": "US-1", "title": "a"}, {"id": 2, "title": "b"}, {"id": "US-3", "title": "c", "`+key+`": ["US-1", 2]}]}`))
		if err != nil || strings.Join(f.Stories[2].After, " ") != "2 US-1" {
			t.Errorf("%s: %+v, %v", key, f, err)
		}
	}
}

func TestAPlanThatCannotBeOrderedIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"an unknown story":      {`[{"id": "a", "title": "a", "dependsOn": ["b"]}]`, `depends on "b", which is no story of this plan`},
		"itself":                {`[{"id": "a", "title": "a", "dependsOn": ["a"]}]`, "depends on itself"},
		"itself, over another":  {`[{"id": "a", "title": "a", "dependsOn": ["b"]}, {"id": "b", "title": "b", "dependsOn": ["a"]}]`, "depends on itself"},
		"no list":               {`{"userStories": {}}`, "is no list"},
		"two lists":             {`{"tasks": [], "features": []}`, "which of them is the plan?"},
		"neither list nor key":  {`{"plan": []}`, "this is no plan"},
		"a story without words": {`[{"passes": false}]`, "no title or description to know it by"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := prd.Parse("prd.json", []byte(c.src)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}
