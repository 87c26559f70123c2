package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
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
	Name: "shepherd", Queues: []string{"shepherd"},
	Setup: func(forge, dir string) func(context.Context, *service.Host) error {
		return Settings{Settings: forgeside.Settings{Forge: github.Flags{URL: forge, Token: forgetest.Token("signalbox")},
			Repo: []string{forgetest.Repo}, WorkDir: dir}, Workers: 1}.Setup
	},
	Orchestrate: func(t testing.TB, url string) {
		dir, every := t.TempDir(), "1h" // nobody has to look again
		if os.Getenv("SIGNALBOX_CRASH") != "" {
			every = "3s" // but where a gate could not be read
		}
		forgetest.WriteFile(t, dir, "reviewed.yaml",
			"workflow: reviewed\nversion: 1\nextends: story\npolicy: {check_duplicates: false, watch_merge: false, check_every: "+every+"}\n")
		forgetest.WriteFile(t, dir, "watched.yaml", "workflow: watched\nversion: 1\nextends: merge-watch\npolicy: {check_every: "+every+"}\n"+
			"states: {reverted: {spawns: [{when: vars.prNumber == 0, workflow: story, state: pushed}]}}\n")
		orchestratortest.Start(t, url, 1, orchestratortest.Settings{AckWait: crashtest.Lease, WorkflowDir: dir})
	},
}

// scenarios covers every effect of the service on the forge.
var scenarios = []crashtest.Scenario{
	{Name: "proposing", Begin: committed, Done: parked, Check: public, ReadsOptional: true},
	{Name: "merging", Begin: approved, Done: in("merged"), Check: landed, ReadsOptional: true},
	{Name: "following a merge up", Begin: broken, Done: in("reported"), Check: followedUp, ReadsOptional: true},
	{Name: "reverting a merge", Begin: toRevert, Done: in("reverted"), Check: reverts, ReadsOptional: true},
	{Name: "answering reviewers", Begin: reviewed, Done: replied, Check: answered, ReadsOptional: true},
}

func TestEveryEffectOfTheShepherdIsMadeOnceWhereverItCrashes(t *testing.T) {
	crashtest.CrashAtEachCall(t, deployed, scenarios...)
}

func TestEveryEffectOfTheShepherdIsMadeOnceWhenAnInstanceStalls(t *testing.T) {
	crashtest.StallAtEachWrite(t, deployed, scenarios...)
}

func in(state string) func(*pb.Instance) bool {
	return func(in *pb.Instance) bool { return in.GetState() == state }
}

// stories numbers those of all environments.
var stories atomic.Int64

// committed is a story that its developer has done.
func committed(s *crashtest.Env) string {
	id := fmt.Sprintf("%s/US-%d", forgetest.Repo, stories.Add(1))
	s.Open(id, "reviewed", instance.Issue{Repo: forgetest.Repo, Title: "Mend the sum"}, s.Code(), "")
	s.Report(id, "developer", accepting(s.Work()))
	return id
}

func parked(in *pb.Instance) bool { return in.GetParked() != nil }

// accepting is a developer's result: all acceptance criteria pass on it.
func accepting(c crashtest.Code) *pb.Result {
	return &pb.Result{
		Status: "success", ConfidenceScore: 1, Summary: "I did what was asked.", Head: c.Head, Bundle: c.Bundles[len(c.Bundles)-1],
		Evidence: []*pb.Evidence{{Name: "acceptance", Ok: true, Commit: c.Head, Command: "make check",
			Judgement: &pb.Judgement{Kind: "code", Shown: true}}},
	}
}

func branchOf(id string) string { return Branch(forgetest.Repo, id) }

// page is how many pushes the forge shows.
const page = 100

// landed wants one pull request, merged once.
func landed(s *crashtest.Env, id string) error {
	pulls, err := s.Pulls(branchOf(id))
	if err != nil || len(pulls) != 1 {
		return fmt.Errorf("the pull requests are %+v, %v", pulls, err)
	}
	one, err := s.Forge.Client("ann").PullRequest(s.Ctx, forgetest.Repo, pulls[0].Number)
	if err != nil {
		return err
	}
	pushes, err := s.Forge.Client("ann").Pushes(s.Ctx, forgetest.Repo, forgetest.Trunk)
	merges := slices.DeleteFunc(pushes, func(p forge.Push) bool { return p.Kind != "pr_merge" })
	all, e := s.Forge.Client("ann").PullRequests(s.Ctx, forgetest.Repo, one.CreatedAt.AddDate(-1, 0, 0))
	done := slices.DeleteFunc(all, func(p forge.PullRequest) bool { return !p.Merged })
	in := s.Get(id)
	if e := evidenceOf(in, "merged"); !one.Merged || len(merges) != min(len(done), page) || merges[0].After != one.MergeSHA ||
		e.GetData()["sha"] != one.MergeSHA {
		return fmt.Errorf("#%d is %s (merged %v as %s), trunk was merged into %d times for %d pull requests, the log has %v", one.Number,
			one.State, one.Merged, one.MergeSHA, len(merges), len(done), e)
	}
	return errors.Join(err, e)
}

// public wants one pull request of the work that the log knows. It is a draft unless the log
// says that this ended: the commits of two works can be one, and checked already.
func public(s *crashtest.Env, id string) error {
	in := s.Get(id)
	pulls, err := s.Pulls(branchOf(id))
	if err != nil || len(pulls) != 1 || pulls[0].Draft == (in.GetVars()["undrafted"] == "true") || pulls[0].HeadSHA != in.GetHead() ||
		in.GetVars()["prNumber"] != strconv.Itoa(pulls[0].Number) {
		return fmt.Errorf("the pull requests are %+v, %v; the log has %v", pulls, err, in.GetVars())
	}
	_, err = s.WantComments(pulls[0].Number, 0)
	return err
}

// proposed is a story that waits for its reviewers.
func proposed(s *crashtest.Env) (id string, pull int, ann person) {
	id = committed(s)
	s.RunUntil(id, parked)
	pull, _ = strconv.Atoi(s.Get(id).GetVars()["prNumber"])
	return id, pull, person{&env{T: s.TB.(*testing.T), ctx: s.Ctx, forge: s.Forge}, "ann"}
}

func changed(s *crashtest.Env, id string) string {
	if _, err := s.Client.Signal(s.Ctx, id, "changed", "change/"+id, "gateway", nil); err != nil {
		s.Fatal(err)
	}
	return id
}

// approved is a story that is ready.
func approved(s *crashtest.Env) string {
	id, pull, ann := proposed(s)
	ann.status(s.Get(id).GetHead(), "success")
	ann.approve(pull)
	return changed(s, id)
}

// broken is the watch of a merge after which a check went red.
func broken(s *crashtest.Env) string {
	ann := person{&env{T: s.TB.(*testing.T), ctx: s.Ctx, forge: s.Forge}, "ann"}
	name := fmt.Sprintf("topic-%d", stories.Add(1))
	ann.pushesNew(name, name+".txt", "x\n")
	pull := ann.proposes(name, "Add "+name)
	merged := ann.do("PUT", path("/pulls/%d/merge", pull), object{"merge_method": "squash"})["sha"].(string)
	ann.fails(merged, "build of "+name) // what was red before is none of it
	id := forgetest.Repo + "/" + name
	s.Open(id, "watched", instance.Issue{Repo: forgetest.Repo, Title: name}, crashtest.Code{}, "", "prNumber", strconv.Itoa(pull))
	return id
}

// toRevert is a merge that is to be reverted.
func toRevert(s *crashtest.Env) string {
	id := broken(s)
	s.Move(id, "reverting")
	return id
}

// followedUp wants one open issue.
func followedUp(s *crashtest.Env, id string) error {
	in, ann := s.Get(id), s.Forge.Client("ann")
	issues, err := ann.Issues(s.Ctx, forgetest.Repo, time.Time{})
	ours := slices.DeleteFunc(issues, func(i forge.Issue) bool {
		of, _, ok := rules.FindMarker(i.Body)
		return !ok || of != id || i.Author.Login != "signalbox"
	})
	if err == nil && (len(ours) != 1 || strconv.Itoa(ours[0].Number) != in.GetVars()["followUp"]) {
		err = fmt.Errorf("the issues are %+v, the log has %v", ours, in.GetVars())
	}
	return err
}

// reverts wants one pull request that reverts the merge.
func reverts(s *crashtest.Env, id string) error {
	in := s.Get(id)
	branch := in.GetVars()["branch"]
	pulls, e := s.Pulls(branch)
	pushes, e2 := s.Forge.Client("ann").Pushes(s.Ctx, forgetest.Repo, branch)
	if err := errors.Join(e, e2); err != nil {
		return err
	}
	if len(pulls) != 1 || len(pushes) != 1 ||
		strconv.Itoa(pulls[0].Number) != in.GetVars()["prNumber"] || pulls[0].HeadSHA != in.GetVars()["pushed"] {
		return fmt.Errorf("the pull requests are %+v after %d pushes, the log has %v", pulls, len(pushes), in.GetVars())
	}
	return nil
}

// reviewed is a story that a reviewer wanted changed, when the developer has done that.
func reviewed(s *crashtest.Env) string {
	id, pull, ann := proposed(s)
	ann.onLine(pull, s.Get(id).GetHead(), "sum.txt", "Three, I think.")
	ann.review(pull, "REQUEST_CHANGES", "It is still wrong.")
	s.RunUntil(changed(s, id), func(in *pb.Instance) bool { return len(in.GetQuestions()) > 0 })
	s.Report(id, "developer", accepting(s.Change(s.Work(), "more.txt", "3\n")))
	return id
}

func replied(in *pb.Instance) bool {
	return in.GetParked() != nil && in.GetVars()["answered"] != "" && in.GetVars()["answered"] != "0"
}

// answered wants the change on the branch, one comment, one reply, and the
// conversation ended.
func answered(s *crashtest.Env, id string) error {
	in := s.Get(id)
	pull, _ := strconv.Atoi(in.GetVars()["prNumber"])
	_, said := s.WantComments(pull, 1)
	pr, err := s.Forge.Client("ann").PullRequest(s.Ctx, forgetest.Repo, pull)
	lines, e := s.Forge.Client("ann").ReviewComments(s.Ctx, forgetest.Repo, pull)
	state, e2 := s.Forge.Client("ann").ReviewState(s.Ctx, forgetest.Repo, pull)
	ours := slices.DeleteFunc(lines, func(c forge.ReviewComment) bool { return c.Author.Login != "signalbox" })
	pushes, e3 := s.Forge.Client("ann").Pushes(s.Ctx, forgetest.Repo, branchOf(id))
	if err := errors.Join(said, err, e, e2, e3); err != nil {
		return err
	}
	if pr.HeadSHA != in.GetHead() || in.GetVars()["pushed"] != in.GetHead() || len(pushes) != 2 || len(ours) != 1 ||
		len(state.Threads) != 1 || !state.Threads[0].Resolved {
		return fmt.Errorf("#%d is at %s after %d pushes, the log has %s; the replies are %+v in %+v", pull, pr.HeadSHA, len(pushes),
			in.GetVars()["pushed"], ours, state.Threads)
	}
	return nil
}
