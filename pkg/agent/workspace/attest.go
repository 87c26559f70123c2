package workspace

import (
	"context"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
)

// maxCommit is how many bytes the object of a commit may have: its message counts, not its files.
const maxCommit = 256 << 10

// Raw returns a commit as git stores it. The commit must be in the cache, as after Inspect.
func (c *Cache) Raw(ctx context.Context, name, commit string) ([]byte, error) {
	repo, err := c.repository(name)
	if err != nil {
		return nil, infra(err, "read a commit")
	}
	raw, err := repo.git.Output(ctx, maxCommit, "cat-file", "commit", commit)
	if err != nil {
		return nil, infra(err, "read commit %s of %s", commit, name)
	}
	return raw, nil
}

// PushAttestation pushes the attestation of a checked change to its reference, in place of an earlier one. The
// error is a *outbound.Refusal if it may not leave, else it wraps brain.ErrInfrastructure.
func (c *Cache) PushAttestation(ctx context.Context, name string, change outbound.Change, envelope []byte, to Remote) error {
	checked, err := c.checker.Attestation(change, envelope)
	if err != nil {
		return err
	}
	repo, err := c.repository(name)
	if err != nil {
		return infra(err, "push an attestation")
	}
	if to, err = to.resolved(); err != nil {
		return err
	}
	if err := repo.git.Keep(ctx, checked.Ref(), checked.Envelope()); err != nil {
		return infra(err, "keep the attestation of %s", change.Head())
	}
	refspec := "+" + checked.Ref() + ":" + checked.Ref()
	if _, err := to.authorize(repo.git).Run(ctx, "push", "--quiet", "--no-verify", "--", to.URL, refspec); err != nil {
		return infra(err, "push the attestation of %s", change.Head())
	}
	return nil
}
