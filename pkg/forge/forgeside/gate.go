package forgeside

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// Gate is what a service lets through: work about the repositories it serves, and
// pushes that pass the check. It counts and logs what it refuses.
type Gate struct {
	Repos     Repositories
	Workspace *workspace.Cache
	// Token returns the token of this moment for a repository; nil: there is none.
	Token func(ctx context.Context, repo string) (string, error)
	// Attest has the orchestrator sign a statement on a commit, as agent.Door does; nil: nothing is attested.
	Attest  func(ctx context.Context, commit []byte) (envelope []byte, object string, err error)
	Urgency forge.Urgency          // of what the service does on the forge
	Log     *slog.Logger           // nil: nothing is logged
	Refused *prometheus.CounterVec // by kind and rule; nil: nothing is counted
}

// NewRefused returns the counter of a gate, registered.
func NewRefused(r prometheus.Registerer, role string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signalbox_outbound_refused_total", Help: "Texts not sent to the forge, by kind and by the rule that they break.",
	}, []string{"kind", "rule"})
	prometheus.WrapRegistererWith(prometheus.Labels{"role": role}, r).MustRegister(c)
	return c
}

// Refuse counts and logs a refusal; other errors it leaves alone.
func (g Gate) Refuse(kind string, err error, about ...any) {
	var rules []string
	if no := new(outbound.Refusal); errors.As(err, &no) {
		for _, f := range no.Findings {
			rules = append(rules, f.Rule)
		}
	} else if errors.Is(err, ErrRepository) {
		rules = []string{"repository"}
	}
	if rules == nil {
		return
	}
	for _, rule := range rules {
		if g.Refused != nil {
			g.Refused.WithLabelValues(kind, rule).Inc()
		}
	}
	if g.Log != nil {
		g.Log.Warn("refused to send it to the forge", append([]any{"kind", kind, "error", err}, about...)...)
	}
}

// Remote returns the address that the repository is pushed to and fetched from, with the
// token of this moment. It serves one step: tokens of an App end after an hour.
func (g Gate) Remote(ctx context.Context, repo forge.Repository) workspace.Remote {
	to := workspace.Remote{URL: repo.CloneURL}
	if g.Token == nil {
		return to
	}
	token, err := g.Token(ctx, repo.Name)
	if err != nil && g.Log != nil {
		g.Log.Warn("git goes on without a token", "repo", repo.Name, "error", err)
	}
	to.Token = token
	return to
}

// Push checks the job's work and pushes it to the branch, and its attestation. The error is a
// *outbound.Refusal if it may not leave; else it is one of workspace.Push.
func (g Gate) Push(ctx context.Context, job agent.Job, repo forge.Repository, branch string) error {
	to := g.Remote(ctx, repo)
	change, err := g.inspect(ctx, job, repo, branch, to)
	if err != nil {
		return err
	}
	_, err = g.Workspace.Push(ctx, repo.Name, change, to)
	if no := new(workspace.Rejection); errors.As(err, &no) && g.Log != nil {
		g.Log.Warn("the forge refused the push", "instance", job.Instance, "repo", repo.Name, "branch", branch, "error", no.Cause)
	}
	if err == nil && g.Attest != nil {
		g.attest(ctx, job, repo.Name, change, to)
	}
	return err
}

// inspect checks the job's work before it leaves for the branch.
func (g Gate) inspect(ctx context.Context, job agent.Job, repo forge.Repository, branch string, to workspace.Remote) (outbound.Change, error) {
	change, err := g.Workspace.Inspect(ctx, workspace.Delivery{Repo: repo.Name, Bundles: BundleObjects(job), Head: job.Head, Branch: branch,
		To: to, Protected: job.Issue.Configured().Protect})
	if err != nil {
		g.Refuse("push", err, "instance", job.Instance, "repo", repo.Name, "branch", branch)
	}
	return change, err
}

// Work runs the work of a handler, unless it is about a repository that is not
// served. A text that must not leave is put to people. Other errors it classifies.
func (g Gate) Work(ctx context.Context, job agent.Job, work func(context.Context, agent.Job) (instance.Result, error)) (instance.Result, error) {
	if repo := job.Issue.Repo; repo != "" {
		if err := g.Repos.Check(repo); err != nil {
			g.Refuse("work", err, "instance", job.Instance, "repo", repo)
			return instance.Result{}, EscalateToPeople("%s: %v", job.Role, err)
		}
	}
	var made []instance.Artifact
	r, err := work(context.WithValue(forge.WithUrgency(ctx, g.Urgency), madeKey{}, &made), job)
	r.Artifacts = append(r.Artifacts, made...)
	if no := new(outbound.Refusal); errors.As(err, &no) {
		return r, EscalateToPeople("%s: %v", job.Role, no)
	}
	if errors.Is(err, ErrRepository) {
		return r, EscalateToPeople("%s: %v", job.Role, err)
	}
	return r, outlast(job, Classify(err))
}

// Unsendable returns the result of work that may not leave, with the findings: a
// failure with which its author can do it again.
func Unsendable(no *outbound.Refusal) instance.Result {
	return instance.Result{Status: instance.Failure, Summary: "the work may not leave: " + strings.Join(no.Strings()[:1], ""),
		IssuesFound: no.Strings()}
}
