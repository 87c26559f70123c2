package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

type diffCommand struct {
	readingOne
	From    uint64 `name:"from" env:"-" placeholder:"SEQ" help:"Print instead how the instance differs, between this commit of the log and --to: its fields, and the code."`
	To      uint64 `name:"to" env:"-" placeholder:"SEQ" help:"The later commit of the log; by default the newest."`
	Attempt int    `name:"attempt" env:"-" placeholder:"N" help:"Only what the Nth change adds, from 1."`
}

// errNoChange means that there is no change to show.
var errNoChange = errors.New("no such change")

// maxDiff is how many bytes of a diff are printed.
const maxDiff = 16 << 20

// Run prints the change that an instance has made to the code, as git shows it. git reads
// the commits in a repository of its own, where nothing of the change is configuration.
func (c diffCommand) Run(ctx context.Context, env *term.Env) error {
	if c.Attempt < 0 {
		return service.Usagef("--attempt %d: want 1 for the first change", c.Attempt)
	}
	if c.From > 0 || c.To > 0 {
		return c.between(ctx, env)
	}
	return c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		from, to, err := c.commits(in)
		if err != nil {
			return err
		}
		var out []byte
		err = withCode(ctx, s, in, func(g git.Runner) error {
			out, err = g.Output(ctx, maxDiff, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--stat", "--patch", from, to)
			return err
		})
		if err != nil {
			return err
		}
		if env.JSON {
			return env.Print(map[string]string{"instance": c.ID, "from": from, "to": to, "diff": string(out)})
		}
		env.Printf("%s\n", term.Text(string(out)))
		return nil
	})
}

// withCode calls f with a repository that has the commits of an instance, and removes it.
func withCode(ctx context.Context, s reader, in *pb.Instance, f func(git.Runner) error) (err error) {
	dir, err := os.MkdirTemp("", "signalbox-code-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g := git.New(dir)
	if _, err := g.Run(ctx, "init", "-q", "--bare"); err != nil {
		return err
	}
	for i, b := range in.GetBundles() {
		if err := fetch(ctx, g, s, in.GetInstance(), b.GetObject(), i); err != nil {
			return err
		}
	}
	return f(g)
}

// commits returns the commits that the change is between.
func (c diffCommand) commits(in *pb.Instance) (from, to string, err error) {
	heads := []string{in.GetBase()}
	for _, b := range in.GetBundles() {
		if b.GetHead() != heads[len(heads)-1] {
			heads = append(heads, b.GetHead())
		}
	}
	switch n := len(heads) - 1; {
	case n == 0 || in.GetHead() == in.GetBase():
		return "", "", fmt.Errorf("%s: %w: nobody has changed the code yet", c.ID, errNoChange)
	case c.Attempt > n:
		return "", "", fmt.Errorf("%s: %w: there are %d", c.ID, errNoChange, n)
	case c.Attempt > 0:
		return heads[c.Attempt-1], heads[c.Attempt], nil
	}
	return in.GetBase(), in.GetHead(), nil
}

// fetch fetches the commits of a bundle.
func fetch(ctx context.Context, g git.Runner, s reader, id, name string, n int) (err error) {
	r, err := s.GetObject(ctx, client.Holder{Instance: id}, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := os.CreateTemp(g.Dir(), "bundle-")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = g.Run(ctx, "fetch", "-q", "--no-tags", f.Name(), fmt.Sprintf("+refs/*:refs/bundle/%d/*", n))
	return err
}
