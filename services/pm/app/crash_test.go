package app

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/testkit/crashtest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// deployed is the service under test, set up as it is deployed.
var deployed = crashtest.Service{
	Name: "pm", Queues: []string{"pm", "endings"},
	Setup: func(forge, dir string) func(context.Context, *service.Host) error {
		return Settings{Settings: forgeside.Settings{Forge: github.Flags{URL: forge, Token: forgetest.Token("signalbox")}, Repo: []string{forgetest.Repo},
			WorkDir: dir}}.Setup
	},
	Orchestrate: func(t testing.TB, url string) {
		orchestratortest.Start(t, url, 1, orchestratortest.Settings{AckWait: crashtest.Lease})
	},
}

func TestEveryEffectOfThePMIsMadeOnceWhereverItCrashes(t *testing.T) {
	crashtest.CrashAtEachCall(t, deployed, scenarios...)
}

// scenarios covers every effect of the service on the forge.
var scenarios = []crashtest.Scenario{
	{Name: "taking an issue up", Begin: begin("received"), Done: in("analyzing_requirements"), Check: silence},
	{Name: "asking questions", Begin: unclear, Done: in("waiting_for_requirements_clarification"), Check: asked},
	{Name: "asking for help", Begin: begin("blocked"), Done: in("waiting_for_human_input"), Check: asked},
	{Name: "opening a pull request", Begin: solution, Done: in("completed"), Check: proposed("")},
	{Name: "finding a foreign branch", Begin: foreign, Done: in("completed"), Check: proposed("-2")},
	{Name: "telling of an end", Begin: begin("failed"), Done: in("failed"), Check: said("key=ended ")},
	{Name: "telling of an escalation", Begin: escalation, Done: in("reviewer"), Check: said("key=escalation-1 ")},
	{Name: "telling what it waits for", Begin: pipeline("blocked"), Done: in("blocked"), Check: said("key=waits-blocked-1 ")},
}

func in(state string) func(*pb.Instance) bool {
	return func(in *pb.Instance) bool { return in.GetState() == state }
}

// begin opens an issue in a state.
func begin(state string) func(*crashtest.Env) string {
	return func(s *crashtest.Env) string {
		issue := s.Issue("The sum is wrong")
		id := fmt.Sprintf("%s/%d", issue.Repo, issue.Number)
		if state == "received" {
			s.Open(id, "issue", issue, crashtest.Code{}, "")
			return id
		}
		s.Open(id, "issue", issue, s.Code(), "")
		s.Move(id, state)
		return id
	}
}

func unclear(s *crashtest.Env) string {
	id := begin("analyzing_requirements")(s)
	s.Report(id, "analyst", &pb.Result{Status: "success", ConfidenceScore: 0.1, Questions: []string{"What did you expect?"}})
	return id
}

// solution is work that a developer has done and a tester has tested.
func solution(s *crashtest.Env) string {
	id := begin("implementing")(s)
	c := s.Work()
	s.Report(id, "developer", &pb.Result{Status: "success", ConfidenceScore: 1, Head: c.Head, Bundle: c.Bundles[1]})
	s.Report(id, "tester", &pb.Result{Status: "success", ConfidenceScore: 1, Evidence: []*pb.Evidence{{Name: "tests", Ok: true, Commit: c.Head}}})
	s.Move(id, "creating_pr")
	return id
}

// foreign is the same, when another person has the branch.
func foreign(s *crashtest.Env) string {
	id := solution(s)
	g := git.New(s.TempDir()).WithIdentity("bob", "bob@example.com").WithToken(s.Forge.URL, "bob-token")
	var err error
	for _, args := range [][]string{
		{"clone", "-q", s.Forge.URL + "/" + forgetest.Repo + ".git", "."}, {"commit", "-q", "--allow-empty", "-m", "mine"},
		{"push", "-q", "origin", "HEAD:refs/heads/signalbox/issue-" + path.Base(id) + "-the-sum-is-wrong"},
	} {
		_, e := g.Run(s.Ctx, args...)
		err = errors.Join(err, e)
	}
	if err != nil {
		s.Fatal(err)
	}
	return id
}

// pipeline opens an instance of the pipeline in a state.
func pipeline(state string) func(*crashtest.Env) string {
	return func(s *crashtest.Env) string {
		issue := s.Issue("The sum is wrong")
		id := fmt.Sprintf("%s/%d", issue.Repo, issue.Number)
		s.Open(id, "pipeline", issue, s.Code(), "")
		s.Move(id, state)
		return id
	}
}

func escalation(s *crashtest.Env) string {
	id := pipeline("reviewer")(s)
	s.Escalate(id, "reviewer", "It touches authentication")
	return id
}

func number(s *crashtest.Env, id string) int { return int(s.Get(id).GetIssue().GetNumber()) }

func silence(s *crashtest.Env, id string) error {
	_, err := s.WantComments(number(s, id), 0)
	return err
}

// said wants one comment, with the marker.
func said(marker string) func(*crashtest.Env, string) error {
	return func(s *crashtest.Env, id string) error {
		said, err := s.WantComments(number(s, id), 1)
		if err == nil && !strings.Contains(said[0].Body, marker) {
			err = fmt.Errorf("there is no %s in %s", marker, said[0].Body)
		}
		return err
	}
}

// asked wants one comment that the log knows, and one more if that waits for people.
func asked(s *crashtest.Env, id string) error {
	in := s.Get(id)
	said, err := s.WantComments(number(s, id), 1)
	if err != nil {
		return err
	}
	return same(in.GetLastResult().GetData()["comment_url"], said[0].URL)
}

// same wants two addresses to lead to the same; each incarnation reaches the
// forge by another host.
func same(log, forge string) error {
	if log == "" || path.Base(log) != path.Base(forge) {
		return fmt.Errorf("the log has %q, the forge %q", log, forge)
	}
	return nil
}

// proposed wants the work on its branch, whose name has the ending, one pull request and
// one comment.
func proposed(ending string) func(*crashtest.Env, string) error {
	return func(s *crashtest.Env, id string) error {
		in, data := s.Get(id), s.Get(id).GetLastResult().GetData()
		pulls, err := s.Pulls("signalbox/issue-" + path.Base(id) + "-the-sum-is-wrong" + ending)
		if err != nil {
			return err
		}
		if len(pulls) != 1 || pulls[0].HeadSHA != in.GetHead() || pulls[0].State != "open" || data["pushed"] != in.GetHead() {
			return fmt.Errorf("the pull requests are %+v, the work is at %s, the log has %v", pulls, in.GetHead(), data)
		}
		said, err := s.WantComments(number(s, id), 1)
		return errors.Join(err, same(data["pr_url"], pulls[0].URL), same(data["comment_url"], said[0].URL))
	}
}

func TestEveryEffectOfThePMIsMadeOnceWhenAnInstanceStalls(t *testing.T) {
	crashtest.StallAtEachWrite(t, deployed, scenarios...)
}

// Lists that show what is new only at the third look have people see a comment
// twice for a moment, and once in the end.
func TestEveryEffectOfThePMIsMadeOnceThoughListsLag(t *testing.T) {
	late := deployed
	late.Forge = func(c *localforge.Config) { c.Lagging = 2 }
	t.Run("wherever it crashes", func(t *testing.T) { crashtest.CrashAtEachCall(t, late, scenarios[1]) })
	t.Run("when an instance stalls", func(t *testing.T) { crashtest.StallAtEachWrite(t, late, scenarios[1], scenarios[3]) })
}

// showing is the service when it shows, beside, how issues stand.
func showing() crashtest.Service {
	of := deployed
	of.Queues = append(of.Queues[:len(of.Queues):len(of.Queues)], "statuses")
	of.Setup = func(forge, dir string) func(context.Context, *service.Host) error {
		return Settings{Status: Status{Comment: true, Labels: true, Rest: 20 * time.Millisecond},
			Settings: forgeside.Settings{Forge: github.Flags{URL: forge, Token: forgetest.Token("signalbox")}, Repo: []string{forgetest.Repo}, WorkDir: dir}}.Setup
	}
	return of
}

// statusScenarios are those in which the service has to show how issues stand only.
var statusScenarios = []crashtest.Scenario{
	{Name: "showing how it stands", Begin: begin("implementing"), Done: in("implementing"), Check: stands("implementing", "signalbox:working")},
	{Name: "showing it after a move", Begin: shownBefore, Done: in("implementing"), Check: stands("implementing", "signalbox:working")},
}

// shownBefore is an instance that moves after it was shown.
func shownBefore(s *crashtest.Env) string {
	id := begin("fixing_issues")(s)
	s.RunUntil(id, in("fixing_issues"))
	s.Move(id, "implementing")
	return id
}

// stands wants one comment that names the state, and the label.
func stands(state, label string) func(*crashtest.Env, string) error {
	return func(s *crashtest.Env, id string) error {
		err := said("key=status ")(s, id)
		if err != nil {
			return err
		}
		all, err := s.WantComments(number(s, id), 1)
		if err != nil || !strings.Contains(all[0].Body, "State: `"+state+"`") {
			return errors.Join(err, fmt.Errorf("it does not stand in %s: %s", state, all[0].Body))
		}
		issue, err := s.Forge.Client("ann").Issue(s.Ctx, forgetest.Repo, number(s, id))
		if err != nil || len(issue.Labels) != 1 || issue.Labels[0] != label {
			return errors.Join(err, fmt.Errorf("the labels are %q, want %s", issue.Labels, label))
		}
		return nil
	}
}

func TestHowAnIssueStandsIsShownOnceWhereverThePMCrashes(t *testing.T) {
	crashtest.CrashAtEachCall(t, showing(), statusScenarios...)
}

func TestHowAnIssueStandsIsShownOnceWhenAnInstanceStalls(t *testing.T) {
	crashtest.StallAtEachWrite(t, showing(), statusScenarios...)
}
