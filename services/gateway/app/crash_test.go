package app

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/testkit/crashtest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// deployed is the service under test, set up as it is deployed.
var deployed = crashtest.Service{
	Name: "gateway",
	Setup: func(at, _ string) func(context.Context, *service.Host) error {
		return Settings{
			Forge: github.Flags{URL: at, Token: forgetest.Token("signalbox")}, Repo: []string{forgetest.Repo}, All: true, Workflow: "issue", Every: 50 * time.Millisecond,
		}.Setup
	},
	Orchestrate: func(t testing.TB, url string) {
		orchestratortest.Start(t, url, 1, orchestratortest.Settings{AckWait: crashtest.Lease})
	},
}

func TestWhatPeopleDoIsHeardOnceWhereverTheGatewayCrashes(t *testing.T) {
	crashtest.CrashAtEachCall(t, deployed, crashtest.Scenario{
		Name: "hearing of an issue and what is said on it", Begin: discussed, Done: heard2, Idle: caughtUp, Check: heardOnce,
	})
}

// discussed is an issue with two comments.
func discussed(s *crashtest.Env) string {
	issue := s.Issue("The sum is wrong")
	for _, body := range []string{"I see that, too.", "So do I."} {
		if _, err := s.Forge.Client("ann").Comment(s.Ctx, forgetest.Repo, issue.Number, body); err != nil {
			s.Fatal(err)
		}
	}
	return Name(forgetest.Repo, issue.Number)
}

func heard2(in *pb.Instance) bool { return len(in.GetNotes()) >= 2 }

// caughtUp: the gateway remembers how far it came.
func caughtUp(s *crashtest.Env, id string) bool {
	kv, err := s.JS.KeyValue(s.Ctx, "signalbox-cursors")
	if err != nil {
		return false
	}
	at, err := cursors{kv}.load(s.Ctx, forgetest.Repo)
	all, e := s.Forge.Client("ann").Comments(s.Ctx, forgetest.Repo, int(s.Get(id).GetIssue().GetNumber()), time.Time{})
	return err == nil && e == nil && !slices.ContainsFunc(all, func(c forge.Comment) bool { _, ok := at.Taken[c.ID]; return !ok && !c.CreatedAt.Before(at.Since) })
}

func heardOnce(s *crashtest.Env, id string) error {
	records, err := s.Client.History(s.Ctx, id, 0)
	var said []string
	for _, r := range records {
		for _, e := range r.GetCommit().GetEvents() {
			if sig := e.GetSignalled(); sig != nil {
				said = append(said, sig.GetData()["body"])
			}
		}
	}
	if err != nil || !slices.Equal(said, []string{"I see that, too.", "So do I."}) {
		return fmt.Errorf("it heard %q, %v", said, err)
	}
	return nil
}

func TestACommandIsCarriedOutAndAnsweredOnceWhereverTheGatewayCrashes(t *testing.T) {
	obeying := deployed
	obeying.Setup = func(at, _ string) func(context.Context, *service.Host) error {
		return Settings{
			Forge: github.Flags{URL: at, Token: forgetest.Token("signalbox")}, Repo: []string{forgetest.Repo}, All: true, Workflow: "issue",
			Every: 50 * time.Millisecond, Intake: DefaultIntake(), Commands: Commands{Command: "signalbox"},
		}.Setup
	}
	crashtest.CrashAtEachCall(t, obeying, crashtest.Scenario{
		Name: "carrying out one command and refusing another", Begin: commanded, Done: (*pb.Instance).GetPaused, Idle: answered, Check: obeyedOnce,
		ReadsOptional: true,
	})
}

// commanded is an issue with a comment that has two commands.
func commanded(s *crashtest.Env) string {
	issue := s.Issue("The sum is wrong")
	nc := s.Server.Connect(s)
	go func() {
		_ = forgeside.ServeComments(s.Ctx, nc, posts(s.Forge.Client("signalbox")))
	}()
	if _, err := s.Forge.Client("ann").Comment(s.Ctx, forgetest.Repo, issue.Number, "/signalbox pause\n/signalbox aprove"); err != nil {
		s.Fatal(err)
	}
	return Name(forgetest.Repo, issue.Number)
}

// answered: the gateway remembers that it has carried out the commands.
func answered(s *crashtest.Env, id string) bool {
	kv, err := s.JS.KeyValue(s.Ctx, "signalbox-cursors")
	if err != nil {
		return false
	}
	l, err := cursors{kv}.ledger(s.Ctx, forgetest.Repo)
	said := commentsOf(s, id)
	return err == nil && len(said) > 0 && l.Done[doneKey(said[0], command.Command{Verb: "pause"})] != time.Time{}
}

func commentsOf(s *crashtest.Env, id string) []forge.Comment {
	all, err := s.Forge.Client("ann").Comments(s.Ctx, forgetest.Repo, int(s.Get(id).GetIssue().GetNumber()), time.Time{})
	if err != nil {
		s.Fatal(err)
	}
	return all
}

func obeyedOnce(s *crashtest.Env, id string) error {
	records, err := s.Client.History(s.Ctx, id, 0)
	paused := 0
	for _, r := range records {
		for _, e := range r.GetCommit().GetEvents() {
			if e.GetPaused() != nil {
				paused++
			}
			if e.GetSignalled() != nil {
				return fmt.Errorf("a command is taken for a word: %v", e)
			}
		}
	}
	said := commentsOf(s, id)
	if got := marks(s, s.Forge.URL, said[0].ID); err != nil || paused != 1 || len(said) != 2 || !slices.Equal(got, []string{"confused", "eyes", "rocket"}) {
		return fmt.Errorf("it was paused %d times, %v, the comment is marked %q, and there are %d comments", paused, err, got, len(said))
	}
	return nil
}
