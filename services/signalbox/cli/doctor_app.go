package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// app checks the App, its webhook, and its installation for each repository.
func (e *checkup) app(ctx context.Context, client *github.Client, repos []string) {
	var info github.AppInfo
	if !e.check(ctx, "app", func(ctx context.Context) finding {
		var err error
		if info, err = client.App(ctx); err != nil {
			return failed("", err.Error(), "the id and the key must be of one App: its page on the forge has the id, and makes keys")
		}
		return finding{"", fine, fmt.Sprintf("%s (id %d), %s", info.Slug, info.ID, info.Page), ""}
	}) {
		return
	}
	for _, repo := range repos {
		var on github.Installed
		if e.check(ctx, "installation", func(ctx context.Context) finding {
			var err error
			on, err = client.Installed(ctx, repo)
			switch {
			case errors.Is(err, forge.ErrNotFound):
				return failed("", "the App is not installed on "+repo, "its owner installs it: "+info.Page+"/installations/new")
			case err != nil:
				return failed("", err.Error(), "")
			}
			return finding{"", fine, fmt.Sprintf("%d, for %s: %s", on.ID, repo, on.Page), ""}
		}) {
			e.permissions(info, on)
		}
	}
	e.check(ctx, "webhook", func(ctx context.Context) finding { return webhook(ctx, client, info) })
}

// permissions lists the permissions that the installation lacks, the roles that need them, and where
// they are granted.
func (e *checkup) permissions(info github.AppInfo, on github.Installed) {
	lacking := 0
	for _, need := range github.Needs() {
		has := on.Permissions[need.Name]
		if need.Satisfies(has) {
			continue
		}
		lacking++
		f := finding{"permission", fail, fmt.Sprintf("%s: %s is needed, it has %s; for %s", need.Name, need.Access, orNone(has), need.For),
			"accept it for the installation: " + on.Page}
		if need.Optional {
			f.Status = worry
		}
		if !need.Satisfies(info.Permissions[need.Name]) {
			f.Advice = "add it to the App, " + info.Page + " > App settings > Permissions & events, then accept it for the installation: " + on.Page
		}
		e.say(f)
	}
	if lacking == 0 {
		e.say(finding{"permissions", fine, fmt.Sprintf("all %d that are needed are granted", len(github.Needs())), ""})
	}
}

func orNone(access string) string {
	if access == "" {
		return "none"
	}
	return access
}

// webhook checks where the App's webhook delivers to, and what became of the last one.
func webhook(ctx context.Context, client *github.Client, info github.AppInfo) finding {
	where := info.Page + " > App settings > Webhook"
	hook, err := client.Hook(ctx)
	switch {
	case err != nil:
		return finding{"", worry, "not checked: " + err.Error(), ""}
	case hook.URL == "":
		return finding{"", worry, "there is none: the forge is asked for changes", "set its address and secret at " + where + ", and start with --webhook"}
	case hook.Secret == "":
		return failed("", hook.URL+" has no secret: each delivery is refused", "set the one of --webhook-secret-file at "+where)
	case hook.ContentType != "json":
		return failed("", hook.URL+" gets forms: each delivery is refused", "set the content type application/json at "+where)
	}
	deliveries, err := client.Deliveries(ctx, time.Time{}, 1)
	switch {
	case err != nil:
		return finding{"", worry, hook.URL + "; its deliveries cannot be read: " + err.Error(), ""}
	case len(deliveries) == 0:
		return finding{"", worry, hook.URL + "; nothing was delivered in the last days", "see that it is active at " + where}
	}
	last := deliveries[0]
	detail := fmt.Sprintf("%s; last delivery %s ago: %s, %d %s", hook.URL, term.Duration(time.Since(last.At)), last.Event, last.StatusCode, last.Status)
	if !last.Arrived() {
		return finding{"", worry, detail, "see that --webhook is reached at that address, with the same secret; the gateway delivers failed ones again"}
	}
	return finding{"", fine, detail, ""}
}

// standing checks what the repository lets the token or the App do.
func (e *checkup) standing(ctx context.Context, client *github.Client, repo string, app bool) {
	var s github.RepositoryInfo
	if !e.check(ctx, "repository", func(ctx context.Context) finding {
		var err error
		if s, err = client.RepositoryInfo(ctx, repo); err != nil {
			return failed("", err.Error(), "")
		}
		detail := fmt.Sprintf("%s: default branch %s, merges by %s", repo, s.DefaultBranch, orNone(strings.Join(s.Methods, ", ")))
		switch {
		case s.Archived:
			return failed("", repo+" is archived", "unarchive it in its settings, or leave it out")
		case s.DefaultBranch == "":
			return finding{"", worry, repo + " has no default branch", "push a first commit"}
		}
		return finding{"", fine, detail, ""}
	}) {
		return
	}
	if !app && s.Push != nil {
		switch {
		case !*s.Push:
			e.say(failed("permissions", "the token may not push to "+repo, "want one with contents, issues and pull requests to write; classic: scope repo"))
		case s.Scopes != "":
			e.say(finding{"permissions", fine, "the token may push to " + repo + "; it is a classic one with the scopes " + s.Scopes, ""})
		default:
			e.say(finding{"permissions", fine, "the token may push to " + repo, ""})
		}
	}
	e.check(ctx, "branch protection", func(ctx context.Context) finding {
		p, err := client.Protection(ctx, repo, s.DefaultBranch)
		const advice = "grant administration: read; until then what it demands is taken for unknown, and the forge's own verdict counts"
		switch {
		case err != nil:
			return finding{"", worry, "cannot be read: " + err.Error(), advice}
		case p.Partial != "":
			return finding{"", worry, "can be read in part: " + p.Partial, advice}
		}
		return finding{"", fine, fmt.Sprintf("of %s can be read", s.DefaultBranch), ""}
	})
	if s.Limit > 0 {
		f := finding{"rate limit", fine, fmt.Sprintf("%d of %d requests left until %s", s.Left, s.Limit, s.Reset.Local().Format("15:04")), ""}
		if s.Left < s.Limit/10 {
			f.Status, f.Advice = worry, "work that it hits waits until then; an App has a limit of its own for each owner"
		}
		e.say(f)
	}
}
