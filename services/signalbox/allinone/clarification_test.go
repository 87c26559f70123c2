package allinone_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// asksFive is an analyst that asks five questions, and waits for the answers.
const asksFive = `if grep -q asked_at "$SIGNALBOX_ASSIGNMENT"; then
	echo '{"status": "success", "confidence_score": 0.5, "summary": "it waits"}' > "$SIGNALBOX_RESULT"
else
	cat > "$SIGNALBOX_RESULT" <<'JSON'
{"status": "success", "confidence_score": 0.5, "summary": "it asks", "questions": [
	{"question": "Which store?", "kind": "choice", "options": ["PostgreSQL", "SQLite"], "reason": "Both occur."},
	{"question": "Keep old files?", "kind": "yes_no", "default": "yes"},
	{"question": "How many days?", "kind": "number"},
	"What is it called?",
	{"question": "How many retries?", "kind": "number", "default": "7", "within": "2s"}]}
JSON
fi
`

// A clarification is answered on the issue, in the console, on the command line and by the API, each in part, and
// the rest by its default at the deadline.
func TestAClarificationIsAnsweredInEachWay(t *testing.T) {
	dir, g := t.TempDir(), gittest.Repo(t)
	write(t, filepath.Join(g.Dir(), "greeting"), "hello\n")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	analyst := filepath.Join(dir, "analyst.sh")
	write(t, analyst, asksFive)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := allinone.Run(ctx, allinone.Config{
		Dir: filepath.Join(dir, "data"), Log: slog.New(slog.DiscardHandler), Flags: service.Flags{Grace: 20 * time.Second}, Workflow: "issue",
		Every: 100 * time.Millisecond, Listen: "127.0.0.1:0", Console: "127.0.0.1:0", Operator: "operator:ann", Login: "ann",
		Repos:  map[string]allinone.Source{widgets: {Dir: g.Dir()}},
		Agents: role.Settings{Sandbox: "none", Workers: 1, Wall: time.Minute, Idle: time.Minute, Brain: []string{"analyst=exec:sh " + analyst}},
		Main: func(ctx context.Context, s *allinone.System) error {
			return (&clarification{T: t, ctx: ctx, s: s, c: client.New(s.NATS, "operator:ann"), id: widgets + "/1"}).run()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

type clarification struct {
	*testing.T
	ctx context.Context
	s   *allinone.System
	c   *client.Client
	id  string
	seq uint64 // of the newest commit that was awaited
}

// await waits for an event that fits.
func (c *clarification) await(fits func(instance.Event) bool) error {
	return c.c.Watch(c.ctx, c.id, c.seq, func(e client.LogEntry) error {
		c.seq = e.Commit.Seq
		for _, one := range e.Events {
			if fits(one) {
				return client.ErrStopWatch
			}
		}
		return nil
	})
}

func waits(e instance.Event) bool {
	moved, ok := e.(instance.Moved)
	return ok && moved.Kind == workflow.Wait
}

func answers(number int) func(instance.Event) bool {
	return func(e instance.Event) bool { a, ok := e.(instance.Answered); return ok && a.Number == number }
}

func (c *clarification) run() error {
	reporter, err := github.New(github.Config{BaseURL: c.s.Forge.API(), Token: c.s.Forge.Secret})
	if err != nil {
		return err
	}
	if _, err := reporter.CreateIssue(c.ctx, widgets, forge.NewIssue{Title: "It forgets", Body: "Please look."}); err != nil {
		return err
	}
	if err := c.await(waits); err != nil {
		return err
	}
	comments := func() string {
		all, err := reporter.Comments(c.ctx, widgets, 1, time.Time{})
		if err != nil {
			c.Error(err)
		}
		var said []string
		for _, one := range all {
			said = append(said, one.Body)
		}
		return strings.Join(said, "\n")
	}
	if text := comments(); !strings.Contains(text, "- a) PostgreSQL\n- b) SQLite\n") || !strings.Contains(text, "Without an answer, “7” is taken at ") {
		c.Errorf("the comment is\n%s", text)
	}
	if _, err := c.c.AnswerQuestions(c.ctx, c.id, &pb.Answer{Question: 4, Text: "Bob"}); err != nil {
		return err
	}
	if err := c.await(answers(5)); err != nil { // by the deadline
		return err
	}
	if _, err := reporter.Comment(c.ctx, widgets, 1, "1:b\n\nQ2: perhaps"); err != nil {
		return err
	}
	if err := c.await(waits); err != nil {
		return err
	}
	if text := comments(); !strings.Contains(text, "**Q2:** no permitted answer in “perhaps”. Permitted: yes, no.") {
		c.Errorf("nobody names the permitted answers:\n%s", text)
	}
	if err := c.byConsole(); err != nil {
		return err
	}
	if err := c.await(waits); err != nil {
		return err
	}
	var out bytes.Buffer
	env := term.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, User: "operator:ann", Now: time.Now}
	if code := cli.Run(c.ctx, env, []string{"answer", c.id, "-q", "3", "14 days", "--nats", c.s.URL, "--nats-user", service.LocalUser,
		"--nats-password-file", c.s.Login}); code != 0 {
		return fmt.Errorf("the command line ends with %d: %s", code, out.String())
	}
	if err := c.await(answers(3)); err != nil {
		return err
	}
	in, err := c.c.Get(c.ctx, c.id)
	if err != nil {
		return err
	}
	for i, want := range []string{"SQLite", "no", "14", "Bob", "7"} {
		if q := in.GetQuestions()[i]; q.GetAnswer() != want || q.GetByDefault() != (want == "7") {
			c.Errorf("the answer to question %d is %q, want %q", i+1, q.GetAnswer(), want)
		}
	}
	return nil
}

// byConsole answers question 2 in the console.
func (c *clarification) byConsole() error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := http.Client{Jar: jar}
	page, err := browser.Get(c.s.Console.SignInLink())
	if err != nil {
		return err
	}
	_ = page.Body.Close()
	in, err := c.c.Get(c.ctx, c.id)
	if err != nil {
		return err
	}
	answered, err := browser.PostForm(strings.TrimSuffix(c.s.Console.URL, "/")+"/act/"+c.id, url.Values{"do": {"answer"}, "state": {in.GetState()},
		"moves": {fmt.Sprint(in.GetIteration())}, "q2": {"no"}})
	if err != nil {
		return err
	}
	defer answered.Body.Close()
	if answered.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answered.Body)
		return fmt.Errorf("the console answers %s: %s", answered.Status, text)
	}
	return nil
}
