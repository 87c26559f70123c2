package crashtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/host"
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

// teller is a role that comments on its issue.
type teller struct {
	forge *github.Client
	tell  func(context.Context, *github.Client, agent.Job) error
}

func (h teller) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	return forgeside.Gate{Repos: forgeside.Repositories{forgetest.Repo}}.Work(ctx, job,
		func(ctx context.Context, job agent.Job) (instance.Result, error) {
			return instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "said"}, h.tell(ctx, h.forge, job)
		})
}

// playing is a service with such a role.
func playing(tell func(context.Context, *github.Client, agent.Job) error) crashtest.Service {
	return crashtest.Service{
		Name: "pm", Queues: []string{"pm"},
		Setup: func(at, _ string) func(context.Context, *service.Host) error {
			return func(_ context.Context, h *service.Host) error {
				c, err := github.New(github.Config{BaseURL: at, Token: forgetest.Token("signalbox")})
				if err != nil {
					return err
				}
				js, err := jetstream.New(h.NATS)
				if err != nil {
					return err
				}
				h.Add("pm", host.Agent(h, js, "pm", teller{c, tell}, nil, nil).Run)
				return nil
			}
		},
		Orchestrate: func(t testing.TB, url string) {
			orchestratortest.Start(t, url, 1, orchestratortest.Settings{AckWait: crashtest.Lease})
		},
	}
}

var saying = crashtest.Scenario{
	Name: "saying something",
	Begin: func(s *crashtest.Env) string {
		issue := s.Issue("The sum is wrong")
		id := fmt.Sprintf("%s/%d", issue.Repo, issue.Number)
		s.Open(id, "issue", issue, s.Code(), "")
		return id
	},
	Done: func(in *pb.Instance) bool { return in.GetState() == "analyzing_requirements" },
	Check: func(s *crashtest.Env, id string) error {
		_, err := s.WantComments(int(s.Get(id).GetIssue().GetNumber()), 1)
		return err
	},
}

func TestWhatLooksBeforeItSpeaksIsFoundToSpeakOnce(t *testing.T) {
	crashtest.CrashAtEachCall(t, playing(func(ctx context.Context, c *github.Client, job agent.Job) error {
		_, err := forge.Post(ctx, c, job.Issue.Repo, job.Issue.Number, "<!-- said -->", "Hello.")
		return err
	}), saying)
}

func TestPlantedFaultsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		tell  func(context.Context, *github.Client, agent.Job) error
		where []string
	}{
		"it speaks before it looks": {func(ctx context.Context, c *github.Client, job agent.Job) error {
			_, err := c.Comment(ctx, job.Issue.Repo, job.Issue.Number, "Hello.\n\n<!-- said -->")
			if err == nil {
				_, err = c.Comments(ctx, job.Issue.Repo, job.Issue.Number, time.Time{})
			}
			return err
		}, []string{"comments, crash after it", "comments, answer lost", "GET /repos/acme/widgets/issues/1/comments, request lost"}},
		"it leaves the marker out": {func(ctx context.Context, c *github.Client, job agent.Job) error {
			all, err := c.Comments(ctx, job.Issue.Repo, job.Issue.Number, time.Time{})
			for _, m := range all {
				if strings.Contains(m.Body, "<!-- said -->") {
					return nil
				}
			}
			if err == nil {
				_, err = c.Comment(ctx, job.Issue.Repo, job.Issue.Number, "Hello.")
			}
			return err
		}, []string{"comments, crash after it", "comments, answer lost"}},
		"it looks once and not again": {func(ctx context.Context, c *github.Client, job agent.Job) error {
			all, err := c.Comments(ctx, job.Issue.Repo, job.Issue.Number, time.Time{})
			for _, m := range all {
				if strings.Contains(m.Body, "<!-- said -->") {
					return nil
				}
			}
			if err == nil {
				_, err = c.Comment(ctx, job.Issue.Repo, job.Issue.Number, "Hello.\n\n<!-- said -->")
			}
			return err
		}, []string{"comments, stall"}},
		"it forgets what it has to say": {func(ctx context.Context, c *github.Client, job agent.Job) error {
			if strings.HasSuffix(job.Agent, "-1") {
				_, err := c.Comment(ctx, job.Issue.Repo, job.Issue.Number, "Hello.")
				return err
			}
			return nil // another has said it, it thinks
		}, []string{"claim, crash after it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			for _, err := range crashtest.FindFaults(t, playing(c.tell), saying) {
				fmt.Fprintln(&said, err)
			}
			for _, where := range c.where {
				if !strings.Contains(said.String(), where) {
					t.Errorf("nothing was found where %s; found was\n%s", where, said.String())
				}
			}
		})
	}
}
