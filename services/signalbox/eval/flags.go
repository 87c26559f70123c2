package eval

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
	"github.com/signalbox/signalbox/pkg/service"
)

// Tests are the flags of how tests are run.
type Tests struct {
	Sandbox  string   `name:"sandbox" enum:"auto,bwrap,landlock,none" default:"auto" help:"How tests, and brains, are confined: auto takes bubblewrap where it works, else Landlock, else refuses; none gives them all your rights."`
	Egress   []string `name:"egress" placeholder:"HOST[:PORT]" help:"Host that tests, and brains, can reach from the sandbox; port 443 by default. May be repeated."`
	Limit    []string `name:"limit" placeholder:"NAME=VALUE" help:"Limit of what a run may use: memory, disk, file-size (8GiB), processes, files (1000), cpu (1h). May be repeated."`
	Parallel int      `name:"parallel" short:"P" default:"1" help:"How many are run at a time."`
}

// judge returns what runs tests, with its work below dir. The caller removes judge.dir.
func (f Tests) judge(ctx context.Context, repo, dir string) (j judge, err error) {
	if f.Parallel < 1 {
		return j, service.Usagef("--parallel %d: want 1 or more", f.Parallel)
	}
	if j.egress, err = egress.Parse(f.Egress); err != nil {
		return j, service.Usagef("%w", err)
	}
	if j.limits, err = role.ParseLimits(f.Limit); err != nil {
		return j, service.Usagef("%w", err)
	}
	if j.box, err = sandbox.New(ctx, sandbox.Mode(f.Sandbox)); err != nil {
		return j, service.Usagef("%w", err)
	}
	if j.repo, err = filepath.Abs(repo); err != nil {
		return j, err
	}
	if j.dir, err = os.MkdirTemp(dir, "work-"); err != nil {
		return j, err
	}
	if j.dir, err = filepath.Abs(j.dir); err != nil {
		return j, err
	}
	j.cache = filepath.Join(j.dir, "cache")
	return j, os.MkdirAll(j.cache, 0o700)
}

// resolve returns the flags as resolve has them.
func (f Tests) resolve() []string {
	flags := []string{"--sandbox", f.Sandbox}
	for _, host := range f.Egress {
		flags = append(flags, "--egress", host)
	}
	for _, limit := range f.Limit {
		flags = append(flags, "--limit", limit)
	}
	return flags
}

// newDir makes the directory of the results, which may be there if it is empty or again.
func newDir(dir string, again bool) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 || again {
		return err
	}
	return fmt.Errorf("%s is not empty", dir)
}
