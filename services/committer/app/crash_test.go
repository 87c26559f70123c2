package app

import (
	"context"
	"fmt"
	"path"
	"testing"

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
	Name: "committer", Queues: []string{"committer"},
	Setup: func(forge, dir string) func(context.Context, *service.Host) error {
		return Settings{forgeside.Settings{Forge: github.Flags{URL: forge, Token: forgetest.Token("signalbox")}, Repo: []string{forgetest.Repo},
			WorkDir: dir}}.Setup
	},
	Orchestrate: func(t testing.TB, url string) {
		orchestratortest.Start(t, url, 1, orchestratortest.Settings{AckWait: crashtest.Lease})
	},
}

// scenarios covers every effect of the service on the forge.
var scenarios = []crashtest.Scenario{
	{Name: "bringing the code", Begin: asking, Done: answered, Check: brought},
	{Name: "handing in", Begin: handing, Done: in("completed"), Check: handedIn},
}

func TestEveryEffectOfTheCommitterIsMadeOnceWhereverItCrashes(t *testing.T) {
	crashtest.CrashAtEachCall(t, deployed, scenarios...)
}

func TestEveryEffectOfTheCommitterIsMadeOnceWhenAnInstanceStalls(t *testing.T) {
	crashtest.StallAtEachWrite(t, deployed, scenarios...)
}

func in(state string) func(*pb.Instance) bool {
	return func(in *pb.Instance) bool { return in.GetState() == state }
}

func begin(s *crashtest.Env, c crashtest.Code) string {
	issue := s.Issue("The sum is wrong")
	id := fmt.Sprintf("%s/%d", issue.Repo, issue.Number)
	s.Open(id, "pipeline", issue, c, "")
	return id
}

// asking is a run that has no code yet: its first role asks the committer.
func asking(s *crashtest.Env) string { return begin(s, crashtest.Code{}) }

func answered(in *pb.Instance) bool {
	qs := in.GetQuestions()
	return len(qs) > 0 && qs[0].GetAnswered()
}

func brought(s *crashtest.Env, id string) error {
	if in := s.Get(id); in.GetBase() != s.Code().Base || len(in.GetBundles()) != 1 || len(in.GetQuestions()) != 1 {
		return fmt.Errorf("it starts at %q with %v, after %v", in.GetBase(), in.GetBundles(), in.GetQuestions())
	}
	return nil
}

// handing is a run whose change is approved.
func handing(s *crashtest.Env) string {
	id := begin(s, s.Code())
	c := s.Work()
	s.Move(id, "writer")
	s.Report(id, "writer", &pb.Result{Status: "success", ConfidenceScore: 1, Head: c.Head, Bundle: c.Bundles[1],
		Sections: map[string]string{"writer": `{"summary": "done"}`}})
	s.Move(id, "reviewer")
	s.Report(id, "reviewer", &pb.Result{Status: "success", ConfidenceScore: 1,
		Sections: map[string]string{"review": `{"verdict": "APPROVED"}`}})
	if now := s.Get(id).GetState(); now != "committer" {
		s.Move(id, "committer")
	}
	return id
}

// handedIn wants one pull request of the work, which the log knows.
func handedIn(s *crashtest.Env, id string) error {
	in := s.Get(id)
	pulls, err := s.Pulls("agent/issue-" + path.Base(id))
	if err != nil {
		return err
	}
	data := in.GetLastResult().GetData()
	if len(pulls) != 1 || pulls[0].HeadSHA != in.GetHead() || path.Base(data["pr_url"]) != fmt.Sprint(pulls[0].Number) ||
		data["pr_number"] != path.Base(data["pr_url"]) {
		return fmt.Errorf("the pull requests are %+v, the work is at %s, the log has %v", pulls, in.GetHead(), data)
	}
	_, err = s.WantComments(int(in.GetIssue().GetNumber()), 0)
	return err
}
