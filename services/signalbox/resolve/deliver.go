package resolve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// delivery has the steps after the branch is brought into the repository.
type delivery struct {
	push    bool
	propose bool // open the pull request, too
	forge   github.Flags
}

// remote is where the repository is pushed to.
type remote struct {
	name string
	url  string // or a path
	host string // empty: a path
	repo string // owner/name, if the URL has that form
}

// ErrNoRemote means that the repository has nowhere to be pushed to.
var ErrNoRemote = errors.New("the repository has no remote: git remote add origin URL")

var (
	scpForm   = lazyregexp.New(`^(?:[^/@:]+@)?([^/@:]+):([^/].*)$`)
	ownerName = lazyregexp.New(`^/?([^/]+/[^/]+?)(?:\.git)?/?$`)
)

// remote returns the remote of the base branch, else origin, else the only one.
func (s source) remote(ctx context.Context) (remote, error) {
	out, err := s.git.Run(ctx, "remote")
	if err != nil {
		return remote{}, err
	}
	all := strings.Fields(out)
	name := "origin"
	if own, err := s.git.Run(ctx, "config", "--get", "branch."+s.branch+".remote"); err == nil && own != "." {
		name = own
	} else if len(all) == 1 {
		name = all[0]
	}
	at, err := s.git.Run(ctx, "config", "--get", "remote."+name+".pushurl")
	if err != nil {
		if at, err = s.git.Run(ctx, "config", "--get", "remote."+name+".url"); err != nil {
			return remote{}, ErrNoRemote
		}
	}
	r := parseRemote(at)
	r.name = name
	if r.host == "" && !filepath.IsAbs(r.url) {
		r.url = filepath.Join(s.dir, r.url)
	}
	return r, nil
}

// parseRemote reads a URL, the short form of ssh, or a path.
func parseRemote(at string) remote {
	r := remote{url: at}
	path := ""
	if u, err := url.Parse(at); err == nil && u.Scheme == "file" {
		r.url = u.Path
	} else if err == nil && u.Host != "" {
		r.host, path = u.Host, u.Path
		u.User = withoutPassword(u.User)
		r.url = u.String()
	} else if m := scpForm.FindStringSubmatch(at); m != nil {
		r.host, path = m[1], m[2]
	}
	if m := ownerName.FindStringSubmatch(path); m != nil {
		r.repo = m[1]
	}
	return r
}

func withoutPassword(u *url.Userinfo) *url.Userinfo {
	if u == nil {
		return nil
	}
	return url.User(u.Username())
}

// deliverable returns why a branch could not be pushed, or be proposed, before there is
// one.
func (s source) deliverable(ctx context.Context, propose bool) error {
	to, err := s.remote(ctx)
	if err == nil && propose && to.repo == "" {
		err = fmt.Errorf("a pull request needs a repository on a forge, and the remote %s is %s", to.name, to.url)
	}
	return err
}

// handOver pushes and proposes the branch, or says how that is done.
func (r *run) handOver(ctx context.Context, out *Outcome) error {
	to, err := r.source.remote(ctx)
	switch {
	case errors.Is(err, ErrNoRemote):
		r.n.Say("next:\n  git -C %s merge %s", term.Quote(r.source.dir), term.Quote(out.Branch))
		return nil
	case err != nil:
		return err
	case !r.deliver.push:
		return r.next(to, *out)
	}
	if err := r.push(ctx, to, *out); err != nil {
		_ = r.next(to, *out)
		return err
	}
	out.Pushed = to.url
	r.n.Say("pushed to %s, %s", to.name, to.url)
	if !r.deliver.propose {
		return nil
	}
	return r.propose(ctx, to, out)
}

// next says by which commands the branch is pushed and proposed.
func (r *run) next(to remote, out Outcome) error {
	r.n.Say("next:\n  git -C %s push -u %s %s", term.Quote(r.source.dir), term.Quote(to.name), term.Quote(out.Branch))
	if out.PullRequest == nil || to.repo == "" {
		return nil
	}
	body := filepath.Join(r.dir, "pull-request.md")
	if err := os.WriteFile(body, []byte(out.PullRequest.Body+"\n"), 0o600); err != nil {
		return err
	}
	draft := ""
	if out.PullRequest.Draft {
		draft = " --draft"
	}
	r.n.Say("  gh pr create%s --repo %s --base %s --head %s --title %s --body-file %s", draft, term.Quote(to.host+"/"+to.repo), term.Quote(r.source.branch),
		term.Quote(out.Branch), term.Quote(out.PullRequest.Title), term.Quote(body))
	return nil
}

// push pushes the branch, with the token if the remote is on the forge's own host. The
// configuration of the repository is not read by the git that pushes.
func (r *run) push(ctx context.Context, to remote, out Outcome) error {
	t, err := r.source.newTransfer(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	g := t.git.WithEnv("GIT_ALLOW_PROTOCOL=http:https:file:ssh")
	if strings.HasPrefix(to.url, "http") {
		token, err := r.deliver.forge.Secret()
		if err != nil {
			return err
		}
		if token != "" && r.deliver.forge.Serves(to.host) {
			g = g.WithToken(to.url, token)
		}
	}
	if _, err := g.Run(ctx, "push", "-q", "--no-verify", "--", to.url, out.Head+":refs/heads/"+out.Branch); err != nil {
		return fmt.Errorf("the branch is not pushed to %s: %w", to.url, err)
	}
	if ref, object := r.source.attested(ctx, out.Head); ref != "" {
		if _, err := g.Run(ctx, "push", "-q", "--no-verify", "--", to.url, "+"+object+":"+ref); err != nil {
			r.n.Say("its attestation is not pushed to %s: %v", to.name, err)
		}
	}
	return nil
}

// propose opens the pull request.
func (r *run) propose(ctx context.Context, to remote, out *Outcome) error {
	if out.PullRequest == nil {
		return errors.New("the branch has no pull request: its lifecycle makes none")
	}
	if !r.deliver.forge.Serves(to.host) {
		return fmt.Errorf("the remote is on %s, and the forge is %s: give its REST API with --forge-url", to.host, r.deliver.forge.URL)
	}
	c, err := r.deliver.forge.Client()
	if err != nil {
		return err
	}
	pr, err := c.CreatePullRequest(ctx, to.repo, forge.NewPullRequest{Title: out.PullRequest.Title, Body: out.PullRequest.Body,
		Head: out.Branch, Base: r.source.branch, Draft: out.PullRequest.Draft})
	if err != nil {
		return fmt.Errorf("the branch is pushed, and has no pull request: %w", err)
	}
	out.PullRequest.URL = pr.URL
	r.n.Say("pull request %s", pr.URL)
	if out.PullRequest.Draft && !pr.Draft {
		r.n.Say("it is no draft, since the repository has none: no test shows the change to be right, so review it before it is merged")
	}
	return nil
}
