package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/git"
)

// The task of a trial is one file with one word that is wrong.
const (
	trialFile  = "greeting.txt"
	trialWrong = "Helo, world.\n"
	trialRight = "Hello, world.\n"
)

// trials has each brain of --brain-trial do a task of one file, and says what worked.
func (c machineFlags) trials(ctx context.Context, e *checkup) {
	for _, spec := range c.BrainTrial {
		f := c.trial(ctx, spec)
		f.Check = "trial of " + spec
		e.say(f)
	}
}

func (c machineFlags) trial(ctx context.Context, spec string) finding {
	box, err := sandbox.New(ctx, sandbox.Mode(c.Sandbox))
	if err != nil {
		return failed("", err.Error(), "docs/sandbox.md lists their needs")
	}
	if !strings.Contains(spec, ":") {
		spec = "exec:" + spec
	}
	work := workflow.WorkSpec{Change: workflow.ChangeRequired}
	brains, err := role.Specs{"developer": spec}.Build("developer", role.Tools{Sandbox: box, Env: role.ForRole(c.BrainEnv, "developer"), Egress: role.ForRole(c.Egress, "developer"), Wall: c.BrainWall, Idle: c.BrainIdle, PresetsDir: c.Presets, ServersFile: c.Servers})
	if err != nil {
		return failed("", err.Error(), "install it, or name another program")
	}
	think, err := brains.For("implementing", work)
	if err != nil {
		return failed("", err.Error(), "")
	}
	dir, err := trialTree(ctx)
	if err != nil {
		return failed("", err.Error(), "")
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	out, err := think.Work(ctx, brain.Assignment{
		Instance: "trial", Workflow: "issue", State: "implementing", Role: "developer", Attempt: 1, Iteration: 1, Dir: dir, Work: work,
		About: "The developer writes the solution.",
		Issue: instance.Issue{Repo: "trial", Number: 1, Title: "The greeting is misspelt",
			Body: trialFile + " contains Helo. Correct the word to Hello, and change nothing else."},
	})
	took := time.Since(began).Round(100 * time.Millisecond)
	switch {
	case errors.Is(err, brain.ErrUnusable):
		return failed("", err.Error(), "nothing works with it until that is put right")
	case errors.Is(err, brain.ErrInfrastructure):
		return failed("", err.Error(), "try again when its service is there; where it stays so, correct the fault that it names")
	case err != nil:
		return failed("", err.Error(), "see what it printed; agents would try it three times, and ask people then")
	}
	return trialled(ctx, dir, out, fmt.Sprintf("%s, %s", took, box.Describe()))
}

// trialTree returns a directory with the task's repository. The caller has to remove it.
func trialTree(ctx context.Context) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "signalbox-trial-*"); err != nil {
		return "", err
	}
	g := git.New(dir).WithIdentity("Signalbox", "signalbox@localhost")
	err = os.WriteFile(filepath.Join(dir, trialFile), []byte(trialWrong), 0o600)
	for _, args := range [][]string{{"init", "--quiet", "--template="}, {"add", "--all"}, {"commit", "--quiet", "--message", "first"}} {
		if err == nil {
			_, err = g.Run(ctx, args...)
		}
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// trialled reports the brain's files and its result. How it ran goes before.
func trialled(ctx context.Context, dir string, out brain.Outcome, how string) finding {
	text, err := os.ReadFile(filepath.Join(dir, trialFile))
	if err != nil || strings.TrimSpace(string(text)) != strings.TrimSpace(trialRight) {
		said := "it reports: " + out.Result.Summary
		if out.Result.Status != instance.Success {
			said = "it reports " + string(out.Result.Status) + ": " + out.Result.Summary
		}
		return failed("", fmt.Sprintf("%s was to be corrected and has %q; %s", trialFile, text, said), "see that it may write, and that its flags let it")
	}
	did := []string{trialFile + " is right", how}
	var advice []string
	if out.Declared {
		did = append(did, "it states its result")
	} else {
		did = append(did, "it states no result: its exit code and the change count")
	}
	if spend := out.Result.Spend; spend.TokensIn+spend.TokensOut > 0 || spend.USD > 0 {
		did = append(did, fmt.Sprintf("it cost %d+%d tokens, $%.4f", spend.TokensIn, spend.TokensOut, spend.USD))
	} else {
		advice = append(advice, "it reports no usage: only limits of time bound its cost")
	}
	g := git.New(dir)
	if left, err := g.Run(ctx, "ls-files", "--others"); err == nil && left != "" {
		advice = append(advice, "it leaves files of its own: "+strings.ReplaceAll(left, "\n", ", "))
	}
	f := finding{"", fine, strings.Join(did, "; "), strings.Join(advice, "; ")}
	if len(advice) > 0 {
		f.Status = worry
	}
	return f
}
