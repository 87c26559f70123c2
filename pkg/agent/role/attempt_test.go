package role_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// fails is a brain that fails some times, and leaves a file each time.
func fails(times int, seen *[]brain.Assignment, then brain.Brain) brain.Brain {
	return thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
		if *seen = append(*seen, a); len(*seen) > times {
			return then.Work(ctx, a)
		}
		out := brain.Outcome{Output: []byte("Killed")}
		out.Result.Spend.TokensIn = 100
		return out, errors.Join(errors.New("sum.sh: exit code 1"), os.WriteFile(filepath.Join(a.Dir, "half.sh"), nil, 0o600))
	})
}

func TestABrainThatFailsIsTriedAgainOnATreeOfItsOwnAndToldWhy(t *testing.T) {
	w := newEnv(t, map[string]string{})
	var seen []brain.Assignment
	r := w.done("developer", "implementing", fails(2, &seen, writes(map[string]string{"sum.sh": "two\n"})))
	if len(seen) != 3 || seen[0].Warnings != nil || !strings.Contains(seen[2].Warnings[1], "attempt 2 failed") ||
		!strings.Contains(seen[2].Warnings[1], "exit code 1") {
		t.Errorf("it was asked %d times, with %v", len(seen), seen[len(seen)-1].Warnings)
	}
	if w.content("sum.sh", r) != "two" || w.content("half.sh", r) != "" || r.Spend.TokensIn != 200 {
		t.Errorf("it left %+v", r)
	}
}

func TestABrainThatFailsDecidesNothingAndTheEvidenceIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		test string
		ok   bool
	}{"tests that pass": {"true\n", true}, "tests that fail": {fail, false}} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, map[string]string{config: "test: {command: sh check.sh}\n", "check.sh": c.test})
			var seen []brain.Assignment
			r, err := w.work("tester", "running_tests", fails(9, &seen, nil))
			if err != nil || len(seen) != 3 || !r.Unjudged || r.Status != instance.Failure || r.FailureSignature != "" {
				t.Fatalf("after %d attempts it ended with %+v, %v", len(seen), r, err)
			}
			if len(r.Evidence) != 1 || r.Evidence[0].OK != c.ok || r.Evidence[0].Commit != w.base || r.Spend.TokensIn != 300 || len(r.Artifacts) != 1 {
				t.Errorf("what is kept is %+v", r)
			}
			if !strings.Contains(r.Summary, "the brain failed 3 times: sum.sh: exit code 1") {
				t.Errorf("it says %q", r.Summary)
			}
		})
	}
}

func TestABrainThatIsStoppedIsNotTriedAgain(t *testing.T) {
	w := newEnv(t, map[string]string{})
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := w.coder("developer", thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
		calls++
		cancel()
		return brain.Outcome{}, errors.New("signal: interrupt")
	})).Work(ctx, w.job("developer", "implementing"))
	if err == nil || calls != 1 {
		t.Errorf("it was asked %d times and ended with %v", calls, err)
	}
}

// unreadable is a brain that leaves the files and states a result that cannot be read, some
// times.
func unreadable(times int, files map[string]string, seen *[]brain.Assignment, then brain.Brain) brain.Brain {
	return thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
		if *seen = append(*seen, a); len(*seen) > times {
			return then.Work(ctx, a)
		}
		out, err := writes(files).Work(ctx, a)
		out.Unreadable, out.Declared = true, false
		out.Result = instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "Two", Spend: instance.Cost{TokensIn: 100}}
		return out, errors.Join(err, brain.ErrInvalidResult)
	})
}

func TestAChangeIsTakenThoughItsReportCannotBeRead(t *testing.T) {
	w := newEnv(t, map[string]string{})
	var seen []brain.Assignment
	r := w.done("developer", "implementing", unreadable(9, map[string]string{"sum.sh": "two\n"}, &seen, nil))
	if len(seen) != 1 || w.content("sum.sh", r) != "two" || r.Summary != "Two" || r.Spend.TokensIn != 100 {
		t.Errorf("after %d attempts it left %+v", len(seen), r)
	}
}

func TestAReportThatCannotBeReadIsAskedForOnceMoreOnTheSameTree(t *testing.T) {
	w := newEnv(t, map[string]string{"a": "a\n"})
	var seen []brain.Assignment
	states := thinks(func(context.Context, brain.Assignment) (brain.Outcome, error) {
		return brain.Outcome{Declared: true, Result: instance.Result{Status: instance.Blocked, Summary: "Which sum?"}}, nil
	})
	r, err := w.work("developer", "implementing", unreadable(1, nil, &seen, states))
	if err != nil || len(seen) != 2 || r.Status != instance.Blocked || r.Spend.TokensIn != 100 {
		t.Fatalf("after %d attempts it ended with %+v, %v", len(seen), r, err)
	}
	if seen[0].Dir != seen[1].Dir || len(seen[1].Warnings) != 1 || !strings.Contains(seen[1].Warnings[0], "could not be read") {
		t.Errorf("it was asked in %s, and then in %s with %q", seen[0].Dir, seen[1].Dir, seen[1].Warnings)
	}
	seen = nil
	if r, err = w.work("developer", "implementing", unreadable(9, nil, &seen, nil)); err != nil || len(seen) != 4 || !r.Unjudged {
		t.Errorf("without end: after %d attempts it ended with %+v, %v", len(seen), r, err)
	}
}
