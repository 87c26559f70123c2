package effectcheck_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/testkit/effectcheck"
)

const (
	repo = "acme/widgets"
	bot  = "signalbox"
)

// fixture is a log and a forge that has all its effects.
type fixture struct {
	log   []effectcheck.Entry
	forge effectcheck.Observed
}

func (s *fixture) repo() *effectcheck.Repo { return &s.forge.Repos[0] }

// say appends a commit to the log.
func (s *fixture) say(id string, events ...instance.Event) uint64 {
	seq := uint64(len(s.log) + 1)
	s.log = append(s.log, effectcheck.Entry{Instance: id, Commit: instance.Commit{Seq: seq, ID: fmt.Sprint("c", seq), Events: events}})
	return seq
}

func opened(d *workflow.Definition, number int, state string) instance.Opened {
	s, _ := d.State(state)
	o := instance.Opened{Workflow: d.Name, Definition: d.Hash, State: state, Owner: s.Owner, Kind: s.Kind, Base: "base", Issue: instance.Issue{Repo: repo, Number: number, Title: "It is wrong"}}
	if number != 0 {
		o.Issue.Author, o.Issue.Labels = "ann", []string{"bug"}
	}
	return o
}

func moved(d *workflow.Definition, from, to string) instance.Moved {
	s, _ := d.State(to)
	return instance.Moved{From: from, To: to, Owner: s.Owner, Kind: s.Kind}
}

func did(role, state string, r instance.Result) instance.Reported {
	r.Status = instance.Success
	return instance.Reported{Role: role, State: state, Result: r}
}

func data(pairs ...string) instance.Result {
	r := instance.Result{Data: map[string]string{}}
	for p := range slices.Chunk(pairs, 2) {
		r.Data[p[0]] = p[1]
	}
	return r
}

func claims(role string) instance.Claimed { return instance.Claimed{Role: role} }

func mark(id, key string) string {
	return "Words.\n\n<!-- signalbox instance=" + id + " key=" + key + " -->"
}

func comment(id int64, number int, of, key string) effectcheck.Comment {
	return effectcheck.Comment{ID: id, Number: number, Author: bot, Body: mark(of, key), URL: address(number, id)}
}

func address(number int, id int64) string {
	return fmt.Sprintf("http://forge/acme/widgets/issues/%d#issuecomment-%d", number, id)
}

// builtins are the lifecycles, read once.
var builtins = sync.OnceValues(workflow.Builtins)

// builtin finds a lifecycle.
func builtin(t *testing.T, name string) *workflow.Definition {
	t.Helper()
	all, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(d *workflow.Definition) bool { return d.Name == name })
	return all[i]
}

func find(t *testing.T) effectcheck.FindDefinition {
	t.Helper()
	all, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	return workflow.NewCatalog(all...).Hashed
}

// whole returns an instance of each lifecycle from its start to its end, and one
// that waits for people, with all effects.
func whole(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{forge: effectcheck.Observed{Bot: bot, Repos: []effectcheck.Repo{{
		Name: repo, Default: "main", Branches: map[string]string{"main": "base"}, Parents: map[string][]string{"base": nil},
	}}}}
	s.issue(builtin(t, "issue"))
	s.pipeline(builtin(t, "pipeline"))
	s.task(builtin(t, "task"))
	s.story(builtin(t, "story"))
	s.escalated(builtin(t, "pipeline"))
	s.repo().Issues[0].Labels = append(s.repo().Issues[0].Labels, "signalbox:done")
	s.repo().Comments = append(s.repo().Comments,
		comment(49, 1, repo+"/1", "status"),
		effectcheck.Comment{ID: 90, Number: 1, Author: "ann", Body: "> " + mark(repo+"/1", "questions-1")}) // a person quotes us
	return s
}

// on puts the bot's branch at a commit.
func (s *fixture) on(branch, commit, before string) {
	r := s.repo()
	kind := "push"
	if before == "" {
		kind, before = "branch_creation", "0000"
	}
	r.Branches[branch] = commit
	r.Moves = append(r.Moves, effectcheck.Move{Actor: bot, Branch: branch, Before: before, After: commit, Kind: kind})
	if r.Parents[commit] == nil {
		r.Parents[commit] = []string{"base"}
		if kind == "push" {
			r.Parents[commit] = []string{before}
		}
	}
}

func (s *fixture) pull(number int, id, branch, sha string) {
	s.repo().Pulls = append(s.repo().Pulls, effectcheck.Pull{Number: number, Author: bot, Body: mark(id, "pull-request"), Head: branch, SHA: sha})
}
