package cli

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type attestCommand struct {
	readingOne
	Key        string `name:"key" env:"-" type:"path" placeholder:"FILE" help:"Private key to sign with, in PEM, in place of the orchestrator's. If the file is missing, the key is made. FILE.pub gets its public part."`
	Repository string `name:"repository" env:"-" type:"existingdir" placeholder:"DIR" help:"Keep the attestation in this git repository, too, under refs/attestations."`
}

// Help returns the details.
func (attestCommand) Help() string {
	return `Prints a signed statement on the newest commit of an instance, with the steps, tests, checks and decisions of people that the
log has of it now. It has no text of issues, prompts or answers. The orchestrator signs; with --key, this command does. Each push of
a change has one already; see signalbox verify and docs/attestation.md.`
}

// Run prints the signed statement of an instance.
func (c attestCommand) Run(ctx context.Context, env *term.Env) error {
	if c.Key == "" && c.Data != "" {
		return service.Usagef("--data: no orchestrator runs that signs; name its key, such as --key %s", allinone.KeyFile(c.Data))
	}
	return c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		if in.GetHead() == "" || in.GetHead() == in.GetBase() {
			return fmt.Errorf("%s: %w: nobody has changed the code yet", c.ID, errNoChange)
		}
		raw, err := rawCommit(ctx, s, in)
		if err != nil {
			return err
		}
		var envelope []byte
		if running, ok := s.(system); ok && c.Key == "" {
			envelope, _, err = running.Attest(ctx, client.Holder{Instance: c.ID}, raw)
		} else {
			envelope, err = c.sign(ctx, s, raw)
		}
		if err != nil {
			return err
		}
		if c.Repository != "" {
			statement, err := attestation.Read(envelope)
			if err != nil {
				return err
			}
			if err := git.New(c.Repository).Keep(ctx, statement.Ref(), envelope); err != nil {
				return err
			}
		}
		env.Printf("%s\n", envelope)
		return nil
	})
}

// sign signs a statement on a commit with the key of --key.
func (c attestCommand) sign(ctx context.Context, s reader, raw []byte) ([]byte, error) {
	key, err := attestation.OpenKey(c.Key)
	if err != nil {
		return nil, service.Usagef("--key: %w", err)
	}
	commit, tree, err := attestation.ReadCommit(raw)
	if err != nil {
		return nil, err
	}
	records, err := s.History(ctx, c.ID, 0)
	if err != nil {
		return nil, err
	}
	running, ok := s.(system)
	statement, err := attestation.Build(attestation.Record{ID: c.ID, Commits: view.Commits(records), Commit: commit, Tree: tree,
		Accounts: ok && running.nats.AuthRequired(), Program: service.ReadBuild().Version})
	if err != nil {
		return nil, err
	}
	return attestation.Sign(statement, key)
}

// rawCommit returns the newest commit as git stores it, from the code that the store has.
func rawCommit(ctx context.Context, s reader, in *pb.Instance) (raw []byte, err error) {
	err = withCode(ctx, s, in, func(g git.Runner) error {
		raw, err = g.Output(ctx, git.MaxOutput, "cat-file", "commit", in.GetHead())
		return err
	})
	return raw, err
}
