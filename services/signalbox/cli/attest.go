package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type attestCommand struct {
	readingOne
	Key        string `name:"key" env:"-" type:"path" required:"" placeholder:"FILE" help:"Private key to sign with, in PEM. If the file is missing, the key is made, and its public key in FILE.pub."`
	Repository string `name:"repository" env:"-" type:"existingdir" placeholder:"DIR" help:"Keep the attestation in this git repository, too, under refs/attestations."`
}

// Help returns the details.
func (attestCommand) Help() string {
	return `Signs a statement on the newest commit of an instance, with the steps, tests, checks and decisions of people that the log has
of it. It has no text of issues, prompts or answers. Prints the envelope, for signalbox verify; see docs/attestation.md.`
}

// attestations is where a repository has attestations: TREE/COMMIT below it.
const attestations = "refs/attestations/"

// Run signs the statement of an instance.
func (c attestCommand) Run(ctx context.Context, env *term.Env) error {
	key, err := signingKey(c.Key)
	if err != nil {
		return service.Usagef("--key: %w", err)
	}
	return c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		if in.GetHead() == "" || in.GetHead() == in.GetBase() {
			return fmt.Errorf("%s: %w: nobody has changed the code yet", c.ID, errNoChange)
		}
		tree, err := treeOf(ctx, s, in)
		if err != nil {
			return err
		}
		records, err := s.History(ctx, c.ID, 0)
		if err != nil {
			return err
		}
		running, ok := s.(system)
		statement, err := attestation.Build(attestation.Record{ID: c.ID, Commits: view.Commits(records), Commit: in.GetHead(), Tree: tree,
			Accounts: ok && running.nats.AuthRequired()})
		if err != nil {
			return err
		}
		envelope, err := attestation.Sign(statement, key)
		if err != nil {
			return err
		}
		if c.Repository != "" {
			if err := keepAttestation(ctx, git.New(c.Repository), statement, envelope); err != nil {
				return err
			}
		}
		env.Printf("%s\n", envelope)
		return nil
	})
}

// signingKey reads the key, or makes it.
func signingKey(file string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		var public []byte
		if text, public, err = attestation.NewKey(); err == nil {
			err = errors.Join(os.WriteFile(file+".pub", public, 0o644), os.WriteFile(file, text, 0o600))
		}
	}
	if err != nil {
		return nil, err
	}
	return attestation.ParsePrivate(text)
}

// treeOf returns the tree of the newest commit, which git reads from the code that the store has.
func treeOf(ctx context.Context, s reader, in *pb.Instance) (tree string, err error) {
	err = withCode(ctx, s, in, func(g git.Runner) error {
		tree, err = g.Run(ctx, "rev-parse", in.GetHead()+"^{tree}")
		return err
	})
	return tree, err
}

// keepAttestation stores an envelope in a repository.
func keepAttestation(ctx context.Context, g git.Runner, s attestation.Statement, envelope []byte) error {
	var id strings.Builder
	if err := g.Stream(ctx, strings.NewReader(string(envelope)), &id, "hash-object", "-w", "--stdin"); err != nil {
		return err
	}
	_, err := g.Run(ctx, "update-ref", attestations+s.Tree()+"/"+s.Commit(), strings.TrimSpace(id.String()))
	return err
}
