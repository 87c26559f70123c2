package eval

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
)

// reports are the issues and pull requests of a forge, by number.
type reports struct {
	issues map[int]forge.Issue
	pulls  map[int]forge.PullRequest
	down   error
}

func (r reports) Issue(_ context.Context, _ string, number int) (forge.Issue, error) {
	if issue, ok := r.issues[number]; ok || r.down != nil {
		return issue, r.down
	}
	return forge.Issue{}, forge.ErrNotFound
}

func (r reports) PullRequest(_ context.Context, _ string, number int) (forge.PullRequest, error) {
	if pr, ok := r.pulls[number]; ok || r.down != nil {
		return pr, r.down
	}
	return forge.PullRequest{}, forge.ErrNotFound
}

func TestACaseHasTheTextOfTheIssueThatItsChangeCloses(t *testing.T) {
	s := issues{repo: "acme/widgets", forge: reports{
		issues: map[int]forge.Issue{12: {Title: " The last page is missing ", Body: "Put 25 in.\r\nIt prints 2.\r\n"}, 13: {Title: " "}, 15: {Title: "Long", Body: strings.Repeat("ä", maxBody)}},
		pulls:  map[int]forge.PullRequest{7: {Title: "Round up", Body: "Fixes #12."}, 8: {Body: "See #12."}, 9: {Body: "Closes other/repo#12"}},
	}}
	for name, c := range map[string]struct {
		message string
		want    int
	}{
		"by its message":                {"Round up\n\nfixes #12", 12},
		"by its address":                {"Round up\n\nResolves: https://github.com/Acme/widgets/issues/12", 12},
		"by its pull request, squashed": {"Round up (#7)", 12},
		"by its pull request, merged":   {"Merge pull request #7 from ann/round\n\nRound up", 12},
		"the first that there is":       {"Round up\n\nFixes #99, fixes #13, closes acme/widgets#12", 12},
		"cut where it is long":          {"Fix #15", 15},
		"which is only mentioned":       {"Round up (#8)", 0},
		"of another repository":         {"Round up (#9)", 0},
		"of nothing":                    {"Round up", 0},
		"of a number within the words":  {"Round (#7) up", 0},
		"of what is not there":          {"Round up (#99)", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := Case{Title: "Round up", Body: "of the message"}
			if err := s.replace(t.Context(), &got, c.message); err != nil || got.Issue != c.want {
				t.Fatalf("it is issue %d, %v; want %d", got.Issue, err, c.want)
			}
			switch {
			case c.want == 0 && (got.Title != "Round up" || got.Body != "of the message"):
				t.Errorf("without an issue the text is %+v", got)
			case c.want == 12 && (got.Title != "The last page is missing" || got.Body != "Put 25 in.\nIt prints 2."):
				t.Errorf("the text is %+v", got)
			case len(got.Body) > maxBody:
				t.Errorf("the text has %d bytes", len(got.Body))
			}
		})
	}
}

func TestAForgeThatFailsIsNoReasonToTakeAnotherText(t *testing.T) {
	down := errors.New("503")
	s := issues{repo: "acme/widgets", forge: reports{down: down}}
	for _, message := range []string{"Fix #12", "Round up (#7)"} {
		if err := s.replace(t.Context(), &Case{Title: "Round up"}, message); !errors.Is(err, down) {
			t.Errorf("%s: %v", message, err)
		}
	}
}
