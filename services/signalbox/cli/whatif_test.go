package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/whatif"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// TestWhatifIsRightAboutRuns runs SIGNALBOX_RUNS issues, 20 by default, on an orchestrator, asks `signalbox whatif` what three
// other policies would have changed, and then runs the same issues under each: `make whatif`.
func TestWhatifIsRightAboutRuns(t *testing.T) {
	n := 20
	if text := os.Getenv("SIGNALBOX_RUNS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	recorded := runIssues(t, n, nil)
	for _, q := range []struct{ policy, value string }{
		{"confidence_threshold", "0.95"}, {"max_iterations", "2"}, {"unproven", "refuse"},
	} {
		t.Run(q.policy+"="+q.value, func(t *testing.T) {
			answer := recorded.ask(t, q.policy+"="+q.value)
			real := runIssues(t, n, map[string]any{q.policy: q.value})
			cases := map[string]whatif.Case{}
			for _, c := range answer.Cases {
				cases[c.Instance] = c
			}
			right := 0
			for id, was := range recorded.paths {
				if is := real.paths[id]; bornOut(cases[id], was, is) {
					right++
				} else {
					t.Errorf("%s: %+v\nrecorded %v\nreal     %v", id, cases[id], was, is)
				}
			}
			t.Logf("right about %d of %d runs: %d would have gone the same way, %d elsewhere, %d are unknown",
				right, n, answer.Same, len(cases)-answer.Unknown, answer.Unknown)
			if len(cases) < n/20 || answer.Unknown > 0 {
				t.Errorf("%d of %d differ, and %d are unknown: this shows little", len(cases), n, answer.Unknown)
			}
		})
	}
}

// step is a move of an instance, and the sequence of its commit.
type step struct {
	seq uint64
	to  string
}

// bornOut reports whether a run under the other policy, is, went where the case of the recorded run, was, says.
func bornOut(c whatif.Case, was, is []step) bool {
	before := len(was)
	if !c.Same() {
		before = slices.IndexFunc(was, func(s step) bool { return s.seq >= c.Seq })
	}
	same := func(a, b step) bool { return a.to == b.to }
	if c.Same() || before < 0 {
		return slices.EqualFunc(was, is, same)
	}
	return len(is) > before && slices.EqualFunc(was[:before], is[:before], same) && is[before].to == c.Instead.State
}

// issueRuns are runs of issues on an orchestrator.
type issueRuns struct {
	server *natstest.Server
	paths  map[string][]step
}

// runIssues runs n issues at once to their ends. Agents and people do the same under each policy.
func runIssues(t *testing.T, n int, policy map[string]any) issueRuns {
	t.Helper()
	built, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.NewCatalog(built...).Named("issue")
	if err == nil {
		def, err = def.WithPolicy(policy)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "issue.yaml"), def.Source(), 0o600); err != nil {
		t.Fatal(err)
	}
	r := issueRuns{natstest.Start(t, natstest.Options{}), map[string][]step{}}
	orchestratortest.Start(t, r.server.URL, 1, orchestratortest.Settings{WorkflowDir: dir, AckWait: time.Minute})
	team := issueTeam{client.New(r.server.Connect(t), "")}
	var running errgroup.Group
	running.SetLimit(8)
	for i := range n {
		running.Go(func() error { return team.run(t.Context(), issueName(i)) })
	}
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		records, err := team.History(t.Context(), issueName(i), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range view.Commits(records) {
			for _, e := range c.Events {
				if e, ok := e.(instance.Moved); ok {
					r.paths[issueName(i)] = append(r.paths[issueName(i)], step{c.Seq, e.To})
				}
			}
		}
	}
	return r
}

func issueName(i int) string { return fmt.Sprint("acme/widgets/", i+1) }

// ask returns the answer of `signalbox whatif`.
func (r issueRuns) ask(t *testing.T, policy string) (answer view.WhatIf) {
	t.Helper()
	var out, problems bytes.Buffer
	env := term.Env{Stdout: &out, Stderr: &problems, Now: time.Now}
	if code := Run(t.Context(), env, []string{"whatif", "--policy", policy, "--json", "--nats", r.server.URL}); code != 0 {
		t.Fatalf("it ended with %d: %s", code, problems.String())
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// issueTeam is the agents and people of the runs.
type issueTeam struct{ *client.Client }

// run brings an issue to its end.
func (a issueTeam) run(ctx context.Context, id string) error {
	_, err := a.OpenWith(ctx, id+".opens", id, &pb.Open{Workflow: "issue", Issue: &pb.Issue{Title: id, Repo: "acme/widgets"}, Base: "c0"})
	for err == nil {
		var in *pb.Instance
		if in, err = a.Get(ctx, id); err != nil || in.GetClosed() != "" {
			return err
		}
		if in.GetWorker() == "" {
			command := fmt.Sprint(id, ".answered.", in.GetSeq())
			_, err = a.Signal(ctx, id, "commented", command, "ann", map[string]string{"body": "yes", "permission": "write"})
			continue
		}
		err = a.work(ctx, in)
	}
	return fmt.Errorf("%s: %w", id, err)
}

// work has an agent claim an instance and report.
func (a issueTeam) work(ctx context.Context, in *pb.Instance) error {
	role := in.GetWorker()
	claim, err := a.DoAs(ctx, role, "claim", &pb.Command{Instance: in.GetInstance(),
		Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: role + "-1", Work: in.GetWork(), LeaseMs: 60_000}}})
	if err != nil {
		return err
	}
	_, err = a.DoAs(ctx, role, "report", &pb.Command{Instance: in.GetInstance(),
		Action: &pb.Command_Report{Report: &pb.Report{Token: claim.GetToken(), Result: resultOf(in)}}})
	return err
}

// resultOf is the result of the step that an instance is at. It depends on the instance, the state, and how often it was
// there, and so it is the same under each policy.
func resultOf(in *pb.Instance) *pb.Result {
	draw := func(what string, n uint64) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, in.GetInstance(), in.GetState(), in.GetAttempt(), what)
		return h.Sum64() >> 7 % n
	}
	r := &pb.Result{Status: "success", Summary: "done", ConfidenceScore: 0.8 + float64(draw("confidence", 20))/100}
	if draw("fails", 6) == 0 {
		r.Status = "failure"
	}
	switch in.GetState() {
	case "received", "requirements_unclear", "blocked", "creating_pr":
		r.Status = "success" // else people would be asked what to do, again and again
	case "implementing", "fixing_issues", "addressing_feedback":
		r.Head = fmt.Sprint("c", in.GetSeq())
	case "running_tests":
		shown := draw("shown", 3) > 0
		r.Evidence = []*pb.Evidence{{Name: "tests", Ok: draw("passes", 3) > 0, Commit: in.GetHead(), Command: "go test ./...",
			Judgement: &pb.Judgement{Kind: "code", Base: "c0", Change: in.GetHead(), Shown: shown}}}
	}
	return r
}
