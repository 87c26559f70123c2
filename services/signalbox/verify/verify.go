// Package verify is the command `signalbox verify`. It needs a repository or a file, and a public key.
package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Command is `signalbox verify`.
type Command struct {
	Commit      string   `arg:"" name:"commit" help:"The commit: its whole id, or in a repository any name of it."`
	Attestation string   `name:"attestation" env:"-" type:"existingfile" placeholder:"FILE" help:"The envelope, as signalbox attest prints it; - reads it from standard input."`
	Repository  string   `name:"repository" env:"-" type:"existingdir" placeholder:"DIR" help:"Git repository with the commit, and with attestations under refs/attestations unless --attestation names one: this one by default, if that names none."`
	Key         string   `name:"key" env:"-" type:"existingfile" required:"" placeholder:"FILE" help:"Public keys that count, in PEM, one block each; a REVOKED PUBLIC KEY does not count."`
	Require     []string `name:"require" env:"-" placeholder:"NAME" help:"Require this of the attestation, too: shown, or approved-by= with a permission on the repository, operator, or an actor. May be repeated, or separated by commas."`
}

// Help returns the details.
func (Command) Help() string {
	return `Needs no running system. Ends with 0 if a known key attests the commit, or another commit with the same files, and the
attestation meets each --require; with 1 if not; with 2 if it was called wrongly.`
}

// verified is the result of a verification.
type verified struct {
	Commit    string                `json:"commit"`
	Attested  string                `json:"attested"` // the commit of the attestation
	ByTree    bool                  `json:"by_tree"`
	Key       string                `json:"key"`
	Statement attestation.Statement `json:"statement"`
}

// maxEnvelope is how many bytes an envelope may have.
const maxEnvelope = 16 << 20

// Run verifies the attestation of a commit.
func (c Command) Run(ctx context.Context, env *term.Env) error {
	var wants []attestation.Requirement
	for _, text := range c.Require {
		want, err := attestation.ParseRequirement(text)
		if err != nil {
			return service.Usagef("--require: %w", err)
		}
		wants = append(wants, want)
	}
	if c.Attestation == "" && c.Repository == "" {
		c.Repository = "."
	}
	text, err := os.ReadFile(c.Key)
	if err != nil {
		return service.Usagef("--key: %w", err)
	}
	keys, err := attestation.ParseKeys(text)
	if err != nil {
		return service.Usagef("--key %s: %w", c.Key, err)
	}
	commit, tree, err := c.resolve(ctx)
	if err != nil {
		return err
	}
	envelopes, err := c.envelopes(ctx, env.Stdin, commit, tree)
	if err != nil {
		return err
	}
	var failed error
	for _, envelope := range envelopes {
		v, err := judge(envelope, keys, wants, commit, tree)
		if err == nil {
			return v.print(env)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// resolve returns the commit, and its tree if there is a repository.
func (c Command) resolve(ctx context.Context) (commit, tree string, err error) {
	if c.Repository == "" {
		return c.Commit, "", nil
	}
	ids, err := git.New(c.Repository).Run(ctx, "rev-parse", "--verify", "--end-of-options", c.Commit+"^{commit}")
	if err != nil {
		return "", "", fmt.Errorf("%s has no commit %s: %w", c.Repository, c.Commit, err)
	}
	tree, err = git.New(c.Repository).Run(ctx, "rev-parse", "--verify", ids+"^{tree}")
	return ids, tree, err
}

// envelopes returns the attestations to try: the one of --attestation, else those of the repository on the
// commit or its tree.
func (c Command) envelopes(ctx context.Context, input io.Reader, commit, tree string) (all [][]byte, err error) {
	if c.Attestation == "-" {
		one, err := io.ReadAll(io.LimitReader(input, maxEnvelope))
		return [][]byte{one}, err
	}
	if c.Attestation != "" {
		one, err := os.ReadFile(c.Attestation)
		return [][]byte{one}, err
	}
	g := git.New(c.Repository)
	refs, err := g.Run(ctx, "for-each-ref", "--format=%(refname)", attestation.Refs)
	if err != nil {
		return nil, err
	}
	var attested []string
	for _, ref := range strings.Fields(refs) {
		attested = append(attested, path.Base(ref))
		if path.Base(ref) != commit && path.Base(path.Dir(ref)) != tree {
			continue
		}
		one, err := g.Output(ctx, maxEnvelope, "cat-file", "blob", ref)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	switch {
	case len(all) > 0:
		return all, nil
	case len(attested) == 0:
		return nil, fmt.Errorf("%w: %s; %s has no attestations: git fetch origin '+%s*:%s*'", attestation.ErrOther, commit, c.Repository,
			attestation.Refs, attestation.Refs)
	}
	return nil, fmt.Errorf("%w: %s; attested are %s", attestation.ErrOther, commit, strings.Join(attested, ", "))
}

// judge verifies one envelope.
func judge(envelope []byte, keys []attestation.Key, wants []attestation.Requirement, commit, tree string) (verified, error) {
	s, key, err := attestation.Verify(envelope, keys)
	if err != nil {
		return verified{}, err
	}
	byTree, err := s.Covers(commit, tree)
	for _, want := range wants {
		if err == nil {
			err = want.Check(s)
		}
	}
	return verified{commit, s.Commit(), byTree, key, s}, err
}

// print prints the statement.
func (v verified) print(env *term.Env) error {
	if env.JSON {
		return env.Print(v)
	}
	p := v.Statement.Predicate
	env.Printf("%s is attested", v.Commit)
	if v.ByTree {
		env.Printf(" by its files: they are those of %s", v.Attested)
	}
	env.Printf("\n  key       %s\n  instance  %s, commits %d to %d of the log, base %s\n", v.Key, term.Line(p.Instance), p.FirstSeq, p.LastSeq, term.Line(p.Base))
	env.Printf("  rules     %s, definition %s\n", term.Line(p.Workflow), term.Line(p.Definition))
	if p.Proof.Shown {
		for _, t := range p.Proof.Tests {
			env.Printf("  shown     %s fails on the base and passes on the change\n", term.Line(t.Name))
		}
	} else {
		env.Printf("  not shown %s\n", term.Line(p.Proof.Reason))
	}
	for _, s := range p.Steps {
		env.Printf("  step %-4d %s/%s in %s: %s %s\n", s.Seq, term.Line(s.Role), term.Line(s.Agent), term.Line(s.State), term.Line(s.Status), term.Line(s.Brain))
	}
	for _, d := range p.People {
		env.Printf("  person    %s by %s %s\n", term.Line(d.What), term.Line(d.By), term.Line(d.Permission))
	}
	return nil
}
