package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
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
	Name: "git-manager", Queues: []string{"git-manager"},
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
	{Name: "bringing the code", Begin: opened, Done: answered, Check: brought},
	{Name: "committing", Begin: done, Done: committed, Check: pushed},
}

func TestEveryEffectOfTheGitManagerIsMadeOnceWhereverItCrashes(t *testing.T) {
	crashtest.CrashAtEachCall(t, deployed, scenarios...)
}

func TestEveryEffectOfTheGitManagerIsMadeOnceWhenAnInstanceStalls(t *testing.T) {
	crashtest.StallAtEachWrite(t, deployed, scenarios...)
}

// tasks numbers those of all environments.
var tasks atomic.Int64

func begin(s *crashtest.Env, c crashtest.Code) string {
	id := fmt.Sprintf("plan/TASK-%d", tasks.Add(1))
	s.Open(id, "task", instance.Issue{Repo: forgetest.Repo, Title: "Mend the sum"}, c, "")
	return id
}

// opened is a task that has no code yet.
func opened(s *crashtest.Env) string { return begin(s, crashtest.Code{}) }

func answered(in *pb.Instance) bool { return in.GetBase() != "" }

func brought(s *crashtest.Env, id string) error {
	if in := s.Get(id); in.GetBase() != s.Code().Base || len(in.GetBundles()) != 1 {
		return fmt.Errorf("it starts at %q with %v", in.GetBase(), in.GetBundles())
	}
	return nil
}

// done is a task whose work is to be committed.
func done(s *crashtest.Env) string {
	id := begin(s, s.Code())
	c := s.Work()
	for in := s.Get(id); in.GetState() != "approved"; in = s.Get(id) {
		r := &pb.Result{Status: "success", ConfidenceScore: 1}
		if in.GetOwner() == "fullstack-developer" {
			r.Head, r.Bundle = c.Head, c.Bundles[1]
		}
		for _, name := range []string{"tests", "lint", "types"} {
			r.Evidence = append(r.Evidence, &pb.Evidence{Name: name, Ok: true, Commit: c.Head})
		}
		s.Report(id, in.GetOwner(), r)
	}
	return id
}

func committed(in *pb.Instance) bool {
	return in.GetVars()["commit"] != "" || in.GetState() == "completed"
}

// pushed wants the work on its branch, brought there once.
func pushed(s *crashtest.Env, id string) error {
	pushes, err := s.Forge.Client("ann").Pushes(s.Ctx, forgetest.Repo, Branch(id))
	in := s.Get(id)
	if err != nil || len(pushes) != 1 || pushes[0].After != in.GetHead() || in.GetLastResult().GetData()["commit"] != in.GetHead() {
		return fmt.Errorf("the branch was pushed %+v, %v; the work is at %s, the log has %v", pushes, err, in.GetHead(),
			in.GetLastResult().GetData())
	}
	return nil
}
