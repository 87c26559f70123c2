package github_test

import (
	"errors"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
)

func TestACheckOfOurOwnIsPublishedAndEdited(t *testing.T) {
	w := newEnv(t)
	bot := w.client(t, "rob-token")
	run := forge.NewCheckRun{Name: "gates", SHA: w.push(t, "rob-token", "fix/it", "a.txt", "one\n"), Conclusion: "neutral", Title: "1 of 2", Summary: "| a | b |"}
	id, err := bot.PublishCheck(t.Context(), repo, 0, run)
	must(t, err)
	run.Conclusion, run.Title = "success", "all"
	again, err := bot.PublishCheck(t.Context(), repo, id, run)
	must(t, err)
	runs, err := bot.CheckRuns(t.Context(), repo, run.SHA)
	if err != nil || id != again || len(runs) != 1 || runs[0].ID != id || runs[0].Status != "completed" || runs[0].Conclusion != "success" ||
		runs[0].Title != "all" || runs[0].Summary != run.Summary {
		t.Errorf("%d, %d: %+v, %v", id, again, runs, err)
	}
	if _, err := bot.PublishCheck(t.Context(), repo, 999, run); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("an unknown run: %v", err)
	}
}
