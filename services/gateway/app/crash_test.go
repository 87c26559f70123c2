package app

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/crashtest"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
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
