package cli

import (
	"context"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// forgeFlags say which forge doctor checks. They are those of up.
type forgeFlags struct {
	URL             string `name:"forge-url" placeholder:"URL" help:"Forge to check, such as https://api.github.com/; the local one needs no check."`
	Token           string `name:"forge-token-file" type:"existingfile" placeholder:"FILE" help:"File that holds the forge's token."`
	Secret          string `name:"forge-token" env:"SIGNALBOX_FORGE_TOKEN,GITHUB_TOKEN,GH_TOKEN" placeholder:"TOKEN" help:"The token itself; better given by file or environment than on the command line."`
	github.AppFlags `prefix:"forge-"`
	Repo            []string `name:"repo" placeholder:"OWNER/NAME" help:"Repository there, or without --forge-url a directory. May be repeated."`
}

// forge checks the forge, its token, its clock and the repositories.
func (c forgeFlags) forge(ctx context.Context, e *checkup) {
	if c.URL == "" {
		e.say(finding{"forge", fine, "the local one, which up and resolve bring along; --forge-url checks another", ""})
		for _, dir := range c.Repo {
			e.check(ctx, "repository", func(ctx context.Context) finding { return repository(ctx, dir) })
		}
		return
	}
	flags := github.Flags{URL: c.URL, TokenFile: c.Token, Token: c.Secret, AppFlags: c.AppFlags}
	if !e.check(ctx, "forge", func(ctx context.Context) finding { return reach(ctx, flags, c.Repo) }) {
		if client, err := flags.Client(); err == nil && client.WorksAsApp() {
			e.app(ctx, client, c.Repo)
		}
		return
	}
	signedIn := e.check(ctx, "forge token", func(ctx context.Context) finding { return tokenOf(ctx, flags) })
	e.check(ctx, "forge clock", func(ctx context.Context) finding { return forgeClock(ctx, flags) })
	client, err := flags.Client()
	if err != nil {
		return
	}
	app := client.WorksAsApp()
	if app {
		e.app(ctx, client, c.Repo)
	}
	if !signedIn {
		return
	}
	for _, repo := range c.Repo {
		e.standing(ctx, client, repo, app)
	}
}

func repository(ctx context.Context, dir string) finding {
	root, err := allinone.Repository(ctx, dir)
	if err != nil {
		return failed("", dir+": "+err.Error(), "--repo names a git repository of this machine")
	}
	if warnings := allinone.Warnings(ctx, root); len(warnings) > 0 {
		return finding{"", worry, strings.Join(warnings, "; "), ""}
	}
	return finding{"", fine, root, ""}
}

func reach(ctx context.Context, flags github.Flags, repos []string) finding {
	if err := flags.Reach(ctx, repos); err != nil {
		return failed("", err.Error(), "")
	}
	if len(repos) == 0 {
		if _, err := flags.Now(ctx); err != nil {
			return failed("", err.Error(), "--forge-url is the address of its REST API, such as https://api.github.com/")
		}
		return finding{"", fine, flags.URL + " answers; --repo OWNER/NAME checks a repository", ""}
	}
	return finding{"", fine, flags.URL + " has " + strings.Join(repos, ", "), ""}
}

func tokenOf(ctx context.Context, flags github.Flags) finding {
	const advice = "give one that may read and write the repositories: --forge-token-file, or GITHUB_TOKEN; or make an App: signalbox github setup"
	origin, err := flags.Origin(ctx)
	if err != nil {
		return failed("", err.Error(), advice)
	}
	if origin == "" {
		return failed("", "there is none", advice)
	}
	client, err := flags.Client()
	if err != nil {
		return failed("", err.Error(), "")
	}
	login, err := client.Self(ctx)
	if err != nil {
		return failed("", err.Error(), advice)
	}
	return finding{"", fine, "it is " + login + "'s: " + origin, ""}
}

// Differences to the forge's clock, which it tells to the second.
const (
	forgeSkewNoticed = 3 * time.Second
	forgeSkewHurts   = time.Minute // a GitHub App's key is refused
)

func forgeClock(ctx context.Context, flags github.Flags) finding {
	before := time.Now()
	at, err := flags.Now(ctx)
	if err != nil {
		return finding{"", worry, "not compared: " + err.Error(), ""}
	}
	took := time.Since(before)
	skew := at.Sub(before.Add(took / 2)).Abs()
	switch detail := term.Duration(skew) + " off the forge's"; {
	case skew > forgeSkewHurts+took:
		return failed("", detail, "set this machine's time: tokens are refused, and changes are overlooked")
	case skew > forgeSkewNoticed+took:
		return finding{"", worry, detail, "set this machine's time"}
	}
	return finding{"", fine, "agrees with the forge's", ""}
}
