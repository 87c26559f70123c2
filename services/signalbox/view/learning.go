package view

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Learning is one line of `learn ls --json`.
type Learning struct {
	ID          string         `json:"id"`
	Repo        string         `json:"repo"`
	Path        string         `json:"path"` // empty: the whole repository
	Text        string         `json:"text"`
	State       learning.State `json:"state"`
	Standing    string         `json:"standing"` // who proposed it and what confirms it, in words
	By          string         `json:"by"`
	Instance    string         `json:"instance,omitempty"` // where it was learned
	Trusted     bool           `json:"trusted"`            // there only people spoke who may write to the repository
	At          time.Time      `json:"at"`
	ConfirmedBy string         `json:"confirmed_by,omitempty"`
	ConfirmedAt time.Time      `json:"confirmed_at,omitzero"`
	Used        []string       `json:"used"` // instances in whose prompts it was
	UsedAt      time.Time      `json:"used_at,omitzero"`
	Successes   []string       `json:"successes"` // those of them that ended well
	RemovedBy   string         `json:"removed_by,omitempty"`
	RemovedAt   time.Time      `json:"removed_at,omitzero"`
}

// LearningOf converts a learning of a repository.
func LearningOf(repo string, l learning.Learning) Learning {
	return Learning{
		ID: l.ID, Repo: repo, Path: l.Path, Text: l.Text, State: l.State, Standing: l.Standing(), By: l.By, Instance: l.Instance,
		Trusted: l.Trusted, At: l.At, ConfirmedBy: l.ConfirmedBy, ConfirmedAt: l.ConfirmedAt, Used: append([]string{}, l.Used...),
		UsedAt: l.UsedAt, Successes: append([]string{}, l.Successes...), RemovedBy: l.RemovedBy, RemovedAt: l.RemovedAt,
	}
}

// about returns what a learning is about: a repository, or a path in it.
func (l Learning) about() string {
	if l.Path == "" {
		return l.Repo
	}
	return l.Repo + ":" + l.Path
}

// Learnings prints what was learned, and how many are left out because they no longer count.
func Learnings(env *term.Env, all []Learning, left int) error {
	if env.JSON {
		for _, l := range all {
			if err := env.Print(l); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case len(all) == 0 && left == 0:
		env.Printf("nothing was learned yet\n")
		return nil
	case len(all) == 0:
		env.Printf("nothing that was learned counts now; --all shows what no longer does (%d)\n", left)
		return nil
	}
	table := env.Table("ID", "STATE", "ABOUT", "LEARNED", "WHO")
	for _, l := range all {
		table.Row(l.ID, string(l.State), term.Line(l.about()), term.Line(l.Text), term.Line(l.Standing))
	}
	err := table.Print()
	if err == nil && left > 0 {
		env.Printf("%d more no longer count; --all shows them\n", left)
	}
	return err
}
