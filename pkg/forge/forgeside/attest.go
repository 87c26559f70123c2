package forgeside

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// attestWithin bounds the wait for the orchestrator's signature. One of an older version never answers.
const attestWithin = 15 * time.Second

// noKey is the code of the orchestrator's refusal where it has no key.
const noKey = "no_key"

// madeKey is the context's key of the artifacts that were made in a piece of work. Work adds them to the result.
type madeKey struct{}

// AttestAgain replaces the attestation of the job's work, which is on the branch, by one with the decisions of people since
// it was pushed. As with the first, nothing that fails here fails the work.
func (g Gate) AttestAgain(ctx context.Context, job agent.Job, repo forge.Repository, branch string) {
	if g.Attest == nil {
		return
	}
	to := g.Remote(ctx, repo)
	if change, err := g.inspect(ctx, job, repo, branch, to); err == nil { // else inspect logs it
		g.attest(ctx, job, repo.Name, change, to)
	}
}

// attest has the orchestrator sign a statement on a change that was pushed, and pushes it. Work without an
// attestation is as good as before, so nothing that fails here fails the work; the reason is logged.
func (g Gate) attest(ctx context.Context, job agent.Job, repo string, change outbound.Change, to workspace.Remote) {
	waiting, cancel := context.WithTimeout(ctx, attestWithin)
	defer cancel()
	raw, err := g.Workspace.Raw(ctx, repo, change.Head())
	if err == nil {
		err = g.attested(ctx, waiting, job, repo, raw, change, to)
	}
	g.Refuse("attestation", err, "instance", job.Instance, "repo", repo)
	no, refused := new(instance.Refusal), new(outbound.Refusal)
	if err == nil || g.Log == nil || errors.As(err, &refused) || errors.As(err, &no) && no.Code == noKey {
		return
	}
	g.Log.Warn("the change is pushed without an attestation", "instance", job.Instance, "repo", repo, "commit", change.Head(), "error", err)
}

// attested pushes the attestation of a commit, which is given as git stores it, and notes the object that keeps it.
func (g Gate) attested(ctx, waiting context.Context, job agent.Job, repo string, raw []byte, change outbound.Change, to workspace.Remote) error {
	envelope, object, err := g.Attest(waiting, raw)
	if err != nil {
		return err
	}
	if err := g.Workspace.PushAttestation(ctx, repo, change, envelope, to); err != nil {
		return err
	}
	if made, ok := ctx.Value(madeKey{}).(*[]instance.Artifact); ok && object != "" {
		*made = append(*made, instance.Artifact{Name: job.State + ".attestation", Object: object, Size: int64(len(envelope)), SHA256: path.Base(object)})
	}
	return nil
}
