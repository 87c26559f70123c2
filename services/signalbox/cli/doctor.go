package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

type doctor struct{ running }

// Run looks at what Signalbox needs and prints a finding a line. It fails if
// something does not work.
func (c doctor) Run(ctx context.Context, env *term.Env) error {
	e := &examination{env: env, patience: c.Timeout}
	e.check(ctx, "git", gitVersion)
	s, err := c.connect(ctx, env)
	if err != nil {
		e.say(failing("nats", err.Error(), "start `signalbox up`, or say with --nats where the server is"))
		return e.verdict()
	}
	defer s.nats.Close()
	e.check(ctx, "nats", s.server)
	stores := e.check(ctx, "jetstream", s.jetStream)
	if stores {
		e.streams(ctx, s)
		e.check(ctx, "clock", s.clock)
	}
	if e.check(ctx, "orchestrator", s.orchestrator) && stores {
		e.roles(ctx, s)
	}
	return e.verdict()
}

// Status is how a check ended.
type status string

const (
	fine  status = "ok"
	worry status = "warn"
	fail  status = "fail"
)

// finding is what one check found.
type finding struct {
	Check  string `json:"check"`
	Status status `json:"status"`
	Detail string `json:"detail"`
	Advice string `json:"advice"` // what to do about it; empty if there is nothing to do
}

func failing(check, detail, advice string) finding { return finding{check, fail, detail, advice} }

// examination prints findings as they come and counts the bad ones.
type examination struct {
	env      *term.Env
	patience time.Duration
	failed   int
}

// check runs one check within the time-out and reports whether it did not fail.
func (e *examination) check(ctx context.Context, name string, look func(context.Context) finding) bool {
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	f := look(ctx)
	f.Check = name
	e.say(f)
	return f.Status != fail
}

func (e *examination) say(f finding) {
	if f.Status == fail {
		e.failed++
	}
	if e.env.JSON {
		_ = e.env.Print(f) // a Stdout that is full fails the call as a whole
		return
	}
	style := map[status]term.Style{fine: term.Good, worry: term.Wait, fail: term.Bad}[f.Status]
	e.env.Printf("%s  %-20s  %s\n", e.env.Paint(style, fmt.Sprintf("%-4s", f.Status)), f.Check, term.Line(f.Detail))
	if f.Advice != "" {
		e.env.Printf("%28s%s\n", "", e.env.Paint(term.Faint, term.Line(f.Advice)))
	}
}

func (e *examination) verdict() error {
	if e.failed > 0 {
		return fmt.Errorf("%d of the checks failed", e.failed)
	}
	return nil
}

// oldestGit is the oldest version that is known to do.
const oldestGit = "2.39"

func gitVersion(ctx context.Context) finding {
	version, err := git.Version(ctx)
	if err != nil {
		return failing("", err.Error(), "install git "+oldestGit+" or newer; agents work with it")
	}
	if older(version, oldestGit) {
		return finding{"", worry, version, "git " + oldestGit + " is the oldest this was tried with"}
	}
	return finding{"", fine, version, ""}
}

// older compares two versions by their first two numbers.
func older(version, than string) bool {
	var a, b [2]int
	_, _ = fmt.Sscanf(version, "%d.%d", &a[0], &a[1])
	_, _ = fmt.Sscanf(than, "%d.%d", &b[0], &b[1])
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}
