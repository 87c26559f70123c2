package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

const (
	defaultKillRuns  = 8 // without SIGNALBOX_SOAK
	concurrentIssues = 4 // issues open at a time
)

// TestKillAtAnyMoment kills processes, the nats-server included, at random moments
// of many runs. Nothing is lost, no effect is doubled, and every issue ends.
func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	runs, seed := intFromEnv(t, "SIGNALBOX_SOAK", defaultKillRuns), uint64(intFromEnv(t, "SIGNALBOX_SEED", int(time.Now().UnixNano()%1e6)))
	t.Logf("SIGNALBOX_SOAK=%d SIGNALBOX_SEED=%d", runs, seed)
	began := time.Now()
	s := startEnv(t, envConfig{AckWait: 2 * time.Second, Developers: 2})
	v := supervise(t, s, rand.New(rand.NewPCG(seed, 0)))
	defer v.stop()

	next := make(chan int)
	var wg sync.WaitGroup
	issues := make([]int, runs) // by run
	for range concurrentIssues {
		wg.Go(func() {
			for run := range next {
				r := rand.New(rand.NewPCG(seed, uint64(run)+1))
				issues[run] = s.forge.openIssue(t, fmt.Sprintf("The answer is wrong, once more: %d", run), vagueReport)
				if err := s.runIssue(t, v, issues[run], r); err != nil {
					t.Errorf("run %d, %s: %v; it is in %s", run, instanceID(issues[run]), err, s.log.states()[instanceID(issues[run])])
				}
			}
		})
	}
	for run := range runs {
		if t.Failed() {
			break
		}
		next <- run
	}
	close(next)
	wg.Wait()
	v.stop()
	if t.Failed() {
		return
	}

	report := s.log.checkLog(t)
	for run, n := range issues {
		end := s.log.get(instanceID(n))
		if end.State != "completed" {
			t.Errorf("run %d: %s ended in %s: %s", run, instanceID(n), end.State, end.Reason)
			continue
		}
		if prs := s.forge.pulls(t, n); len(prs) != 1 {
			t.Errorf("run %d: %s has the pull requests %v, want one", run, instanceID(n), prs)
		}
		if keys := s.forge.comments(t, n); len(keys) != 2 || !strings.HasPrefix(keys[0], "questions-") || keys[1] != "pull-request" {
			t.Errorf("run %d: %s has the comments %v, want the questions and the pull request", run, instanceID(n), keys)
		}
	}
	var kills []string
	total := int64(0)
	for _, p := range v.processes {
		kills = append(kills, fmt.Sprintf("%s %d", p.name, p.kills.Load()))
		total += p.kills.Load()
	}
	s.checkReplay(t, v)
	t.Logf("%d runs in %s, %d commits, %d claims, %d kills: %s", runs, time.Since(began).Round(time.Second), report.Commits,
		len(report.Claims), total, strings.Join(kills, ", "))
}

// killPlan is one kill during the run of an issue.
type killPlan struct {
	commits int           // number of commits of the instance to wait for
	after   time.Duration // delay after that
	victims []*supervised // killed at the same time
}

// drawKills draws one to three kills.
func (v *supervisor) drawKills(r *rand.Rand) []killPlan {
	all := make([]killPlan, 1+r.IntN(3))
	for i := range all {
		all[i] = killPlan{commits: r.IntN(20), after: time.Duration(r.IntN(80)) * time.Millisecond}
		for range 1 + r.IntN(2)*r.IntN(3) {
			all[i].victims = append(all[i].victims, v.processes[r.IntN(len(v.processes))])
		}
	}
	return all
}

// runIssue answers the questions about an issue and carries out its kills. It
// returns when the issue has ended and all kills are done.
func (s *env) runIssue(t *testing.T, v *supervisor, n int, r *rand.Rand) error {
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, strike := range v.drawKills(r) {
		wg.Go(func() {
			if s.log.waitUntil(ctx, func(f *logFollower) bool {
				return len(f.history[instanceID(n)]) >= strike.commits || f.instances[instanceID(n)].Closed != ""
			}) != nil {
				return
			}
			select {
			case <-time.After(strike.after):
			case <-ctx.Done():
			}
			for _, victim := range strike.victims {
				wg.Go(victim.kill)
			}
		})
	}
	err := s.log.waitUntil(ctx, func(f *logFollower) bool {
		return f.instances[instanceID(n)].State == "waiting_for_requirements_clarification"
	})
	if err != nil {
		return fmt.Errorf("nothing is asked: %w", err)
	}
	if _, err := s.forge.ann.Comment(ctx, repo, n, clarification); err != nil {
		return err
	}
	if err := s.log.waitUntil(ctx, hasEnded(instanceID(n))); err != nil {
		return fmt.Errorf("it does not end: %w", err)
	}
	return nil
}

// checkReplay fails if a new orchestrator, which reads the log from its beginning,
// has another state than the commits that the test followed.
func (s *env) checkReplay(t *testing.T, v *supervisor) {
	t.Helper()
	for _, p := range v.processes {
		if p.name != natsName {
			p.kill()
		}
	}
	s.processes["orchestrator"] = s.startProcess(t, "orchestrator")
	s.processes["orchestrator"].expect(t, `"msg":"running"`)
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	for name := range s.log.states() {
		want := instance.Fold(name, s.log.commitsOf(name))
		got, err := s.client.Get(ctx, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.GetState() != want.State || int(got.GetIteration()) != want.Iteration || got.GetSeq() != want.Seq {
			t.Errorf("%s is in %s at %d after %d moves, the log has %s at %d after %d", name, got.GetState(), got.GetSeq(), got.GetIteration(),
				want.State, want.Seq, want.Iteration)
		}
	}
}

func intFromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s: want a number", name, text)
	}
	return n
}
