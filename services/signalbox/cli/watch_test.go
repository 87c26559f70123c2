package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// call is a command that runs in a goroutine of this process.
type call struct {
	lines chan string // of Stdout; closed when the command has ended
	says  chan string // lines of Stderr
	code  chan int
	stop  context.CancelFunc
}

func startCommand(t *testing.T, server *natstest.Server, env term.Env, args ...string) call {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := call{make(chan string, 1000), make(chan string, 1000), make(chan int, 1), cancel}
	out, outEnd := io.Pipe()
	errs, errsEnd := io.Pipe()
	env.Stdout, env.Stderr, env.Now, env.Log = outEnd, errsEnd, time.Now, slog.New(slog.DiscardHandler)
	go func() {
		c.code <- Run(ctx, env, append(args, "--nats", server.URL))
		outEnd.Close()
		errsEnd.Close()
	}()
	go func() {
		defer close(c.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			c.lines <- scanner.Text()
		}
	}()
	go func() {
		for scanner := bufio.NewScanner(errs); scanner.Scan(); {
			c.says <- scanner.Text()
		}
	}()
	t.Cleanup(cancel)
	return c
}

// end waits for the command and returns the output that was not read yet.
func (c call) end(t *testing.T, code int) string {
	t.Helper()
	if got := <-c.code; got != code {
		t.Errorf("it ended with %d, want %d", got, code)
	}
	var rest []string
	for line := range c.lines {
		rest = append(rest, line)
	}
	return strings.Join(rest, "\n")
}

func opened(t *testing.T, nc *nats.Conn, id string) *client.Client {
	t.Helper()
	c := client.New(nc, "operator:bob")
	if _, err := c.Open(t.Context(), "", "issue", id, instance.Issue{Title: "It breaks"}); err != nil {
		t.Fatal(err)
	}
	return c
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	server := start(t)
	nc := server.Connect(t)
	override := func(t *testing.T, c *client.Client, id, to string) {
		t.Helper()
		if _, err := c.Override(t.Context(), id, to, "by hand"); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("follows an instance until it ends", func(t *testing.T) {
		c := opened(t, nc, "a/1")
		w := startCommand(t, server, term.Env{}, "watch", "a/1")
		contains(t, <-w.lines, "received for ", "pm, nobody has taken it")
		override(t, c, "a/1", "implementing")
		contains(t, <-w.lines, "received → implementing  operator:bob  after ", "by hand")
		opened(t, nc, "a/other")
		override(t, c, "a/1", "completed")
		if got := w.end(t, 0); strings.Count(got, "\n") != 0 || !strings.Contains(got, "implementing → completed") {
			t.Errorf("it ended with\n%s", got)
		}
	})
	t.Run("prints JSON, one event a line", func(t *testing.T) {
		c := opened(t, nc, "a/2")
		w := startCommand(t, server, term.Env{}, "watch", "a/2", "--json")
		<-w.says
		override(t, c, "a/2", "failed")
		contains(t, w.end(t, 0), `"event":"moved","from":"received","to":"failed","actor":"operator:bob"`)
	})
	t.Run("fails when the instance is cancelled", func(t *testing.T) {
		c := opened(t, nc, "a/3")
		w := startCommand(t, server, term.Env{}, "watch", "a/3")
		<-w.lines
		if _, err := c.Cancel(t.Context(), "a/3", "enough"); err != nil {
			t.Fatal(err)
		}
		contains(t, w.end(t, 1), "cancelled  operator:bob  enough")
		<-w.says
		contains(t, <-w.says, "a/3 was cancelled in received: enough")
	})
	t.Run("fails when it is interrupted before the end", func(t *testing.T) {
		opened(t, nc, "a/4")
		w := startCommand(t, server, term.Env{}, "watch", "a/4")
		<-w.lines
		w.stop()
		w.end(t, 1)
		<-w.says
		contains(t, <-w.says, "a/4 has not ended: received")
	})
	for end, want := range map[string]int{"completed": 0, "failed": 1, "requires_human_intervention": 1} {
		t.Run("says with --exit-status how it ended: "+end, func(t *testing.T) {
			c := opened(t, nc, "b/"+end)
			w := startCommand(t, server, term.Env{}, "watch", "b/"+end, "--exit-status")
			<-w.lines
			override(t, c, "b/"+end, end)
			w.end(t, want)
			startCommand(t, server, term.Env{}, "watch", "b/"+end, "--exit-status").end(t, want)
			startCommand(t, server, term.Env{}, "watch", "b/"+end).end(t, 0)
		})
	}
	t.Run("says with --exit-status of no failed state that the work failed before", func(t *testing.T) {
		c := opened(t, nc, "b/1")
		override(t, c, "b/1", "blocked")
		if err := claimAndReport(t.Context(), nc, "pm", "b/1", `{"status": "blocked", "summary": "nobody can"}`); err != nil {
			t.Fatal(err)
		}
		w := startCommand(t, server, term.Env{}, "watch", "b/1", "--exit-status")
		w.end(t, 1)
		contains(t, <-w.says, "b/1 ended in requires_human_intervention: the agents cannot remove the obstacle")
	})
	t.Run("follows all until it is interrupted", func(t *testing.T) {
		w := startCommand(t, server, term.Env{}, "watch")
		contains(t, <-w.says, "watching from sequence ")
		opened(t, nc, "a/5")
		contains(t, <-w.lines, "a/5  → received  operator:bob  It breaks")
		w.stop()
		w.end(t, 0)
	})
}

func TestAnAnswerIsAskedOfAPerson(t *testing.T) {
	t.Parallel()
	server := start(t)
	nc := server.Connect(t)
	opened(t, nc, "a/1")
	asks := `{"status": "success", "questions": ["Which widgets?", "On which page?", "Since when?"]}`
	for _, step := range []struct{ role, result string }{{"pm", `{"status": "success"}`}, {"analyst", asks}, {"pm", `{"status": "success"}`}} {
		if err := claimAndReport(t.Context(), nc, step.role, "a/1", step.result); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(stdin string, code int) string {
		var out, errs bytes.Buffer
		env := term.Env{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Person: true, User: "operator:bob", Now: time.Now}
		if got := Run(t.Context(), env, []string{"answer", "a/1", "--nats", server.URL}); got != code {
			t.Errorf("it ended with %d, want %d", got, code)
		}
		return errs.String() + out.String()
	}
	t.Run("who says nothing", func(t *testing.T) {
		contains(t, answer("\n\n", 1), "nothing was answered")
	})
	t.Run("who answers two questions of three", func(t *testing.T) {
		contains(t, answer("The last five.\n\nMonday", 0), "Q1: Which widgets?\n> ", "Q3: Since when?\n> ",
			"answered, now in requirements_clarified")
		in, err := client.New(nc, "").Get(t.Context(), "a/1")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := in.Notes[0].Text, "Q1: The last five.\n\nQ3: Monday"; got != want {
			t.Errorf("the answer is %q, want %q", got, want)
		}
	})
}

func TestAServerWithoutAnOrchestratorIsToldApart(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t, natstest.Options{})
	var out bytes.Buffer
	env := term.Env{Stdout: &out, Stderr: &out, Now: time.Now}
	if code := Run(t.Context(), env, []string{"ls", "--timeout", "100ms", "--nats", server.URL}); code != 1 {
		t.Errorf("it ended with %d", code)
	}
	contains(t, out.String(), "NATS is at "+server.URL+", but no orchestrator replied within 100ms")
	out.Reset()
	if code := Run(t.Context(), env, []string{"doctor", "--timeout", "500ms", "--nats", server.URL}); code != 1 {
		t.Errorf("the doctor ended with %d", code)
	}
	contains(t, out.String(), "ok    jetstream", "fail  log", "fail  orchestrator", "start `signalbox up`")
}
