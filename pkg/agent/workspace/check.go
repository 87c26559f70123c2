package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
)

// Check applies the rules to the change since the checkout or the last Commit. It
// reads the files as they are and each commit of the program, since a bundle has
// also the content that a later commit removes. No findings means the change may
// leave.
func (t *Tree) Check(ctx context.Context, rules outbound.Rules) ([]outbound.Finding, error) {
	now, err := t.state(ctx, "check\n")
	if nested := (*nestedError)(nil); errors.As(err, &nested) {
		var found []outbound.Finding
		for _, path := range nested.paths {
			found = append(found, outbound.Submodule("", path))
		}
		return found, nil
	}
	if err != nil || now == t.Head {
		return nil, err
	}
	rules.Identity = t.cache.cfg.Identity
	found, err := t.cache.checker.With(rules).Commits(ctx, t.repo.git, now, t.Head)
	if err != nil {
		return nil, infra(err, "check")
	}
	return found, nil
}

// Inspect checks what a push of the delivery would add to the forge. That is all that no
// branch there has, whatever the delivery says of its base. The error is a
// *outbound.Refusal if the work may not leave, ErrSource if there is no such repository on
// the forge. Any other error wraps brain.ErrInfrastructure.
func (c *Cache) Inspect(ctx context.Context, d Delivery) (outbound.Change, error) {
	none := outbound.Change{}
	repo, err := c.repository(d.Repo)
	if err != nil {
		return none, infra(err, "check")
	}
	ref := "refs/heads/" + d.Branch
	if _, err := repo.git.In("").Run(ctx, "check-ref-format", ref); err != nil {
		return none, &outbound.Refusal{Findings: []outbound.Finding{{Rule: "branch", Detail: "it is no name for a branch"}}}
	}
	if d.To, err = d.To.resolved(); err != nil {
		return none, err
	}
	if err := c.obtain(ctx, repo, d.Bundles, d.Head); err != nil {
		return none, err
	}
	p := outbound.Push{Head: d.Head, Branch: d.Branch}
	if err := c.compare(ctx, repo, d, &p); err != nil {
		return none, err
	}
	change, err := c.checker.Forbidding(d.Protected).Change(ctx, repo.git, p)
	if err != nil && !errors.As(err, new(*outbound.Refusal)) {
		return none, infra(err, "check %s", d.Branch)
	}
	return change, err
}

// ourBranches is the prefix of the branches whose commits are fetched for a check, in addition
// to the default branch. The work of one may be merged into another.
const ourBranches = "refs/heads/signalbox/"

// compare reads what the forge has, and fetches the commits of it that are needed
// to tell what is new.
func (c *Cache) compare(ctx context.Context, repo repository, d Delivery, p *outbound.Push) error {
	g := d.To.authorize(repo.git)
	listed, err := g.Run(ctx, "ls-remote", "--symref", "--", d.To.URL, "HEAD", "refs/heads/*")
	if err != nil {
		return sourceError(err, d.To.URL, d.Branch)
	}
	there := map[string]string{}
	for line := range strings.Lines(listed) {
		what, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if target, symbolic := strings.CutPrefix(what, "ref: "); symbolic {
			p.Default = strings.TrimPrefix(target, "refs/heads/")
		} else if strings.HasPrefix(name, "refs/heads/") {
			there[name] = what
		}
	}
	p.Tip, p.There = there["refs/heads/"+p.Default], there["refs/heads/"+d.Branch]
	held, err := repo.open(ctx)
	if err != nil {
		return infra(err, "open the cache of %s", d.Repo)
	}
	defer held.Close()
	cached, err := repo.commits(ctx, slices.Collect(maps.Values(there)))
	if err != nil {
		return infra(err, "read the cache of %s", d.Repo)
	}
	var missing []string
	for name, commit := range there {
		has := cached[commit]
		if !has && (name == "refs/heads/"+p.Default || name == "refs/heads/"+d.Branch || strings.HasPrefix(name, ourBranches)) {
			missing, has = append(missing, name), true
		}
		if has {
			p.Known = append(p.Known, commit)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	args := append([]string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--", d.To.URL}, missing...)
	if _, err := g.Run(ctx, args...); err != nil {
		return sourceError(err, d.To.URL, d.Branch)
	}
	return nil
}

// commits returns those of the objects that the repository has, and that are commits or tags of
// some. One process of git reads them all: a forge may have thousands of branches.
func (r repository) commits(ctx context.Context, objects []string) (map[string]bool, error) {
	var asked, answered bytes.Buffer
	for _, object := range objects {
		fmt.Fprintf(&asked, "%s^{commit}\n", object)
	}
	if err := r.git.Stream(ctx, &asked, &answered, "cat-file", "--batch-check=%(objecttype)"); err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(answered.String(), "\n"), "\n") {
		if line == "commit" && i < len(objects) {
			found[objects[i]] = true
		}
	}
	return found, nil
}
