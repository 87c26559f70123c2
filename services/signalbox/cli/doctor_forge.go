package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
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
	Repo            []string `name:"repo" placeholder:"OWNER/NAME" help:"Repository there, or a pattern such as acme/*, as of the gateway; without --forge-url a directory. May be repeated."`
}

// gateway reports the forge by the gateway's newest request. It is silent where no gateway
// answers, or none of this version.
func (s system) gateway(ctx context.Context, e *checkup) {
	within, cancel := context.WithTimeout(ctx, min(e.patience, configuredWithin))
	defer cancel()
	fault, err := forgeside.RequestFault(within, s.nats)
	switch {
	case err != nil:
	case fault != "":
		e.say(failed("forge of the gateway", fault, "nothing new is taken up and nothing is delivered meanwhile; --forge-url with its token checks more"))
	default:
		e.say(finding{"forge of the gateway", fine, "it answered the newest request", ""})
	}
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
	list := forgeside.Repositories(c.Repo)
	if err := list.Validate(); err != nil {
		e.say(failed("repositories", err.Error(), ""))
		return
	}
	if !e.check(ctx, "forge", func(ctx context.Context) finding { return reach(ctx, flags, list.Exact()) }) {
		if client, err := flags.Client(); err == nil && client.WorksAsApp() {
			e.app(ctx, client, list.Exact())
		}
		return
	}
	signedIn := e.check(ctx, "forge token", func(ctx context.Context) finding { return tokenOf(ctx, flags) })
	e.check(ctx, "forge clock", func(ctx context.Context) finding { return forgeClock(ctx, flags) })
	client, err := flags.Client()
	if err != nil {
		return
	}
	repos := list.Exact()
	if signedIn && (list.All() || len(list.Owners()) > 0) {
		if repos, err = e.resolved(ctx, client, list); err != nil {
			return
		}
	}
	app := client.WorksAsApp()
	if app {
		e.app(ctx, client, repos)
	}
	if !signedIn {
		return
	}
	for _, repo := range repos {
		e.standing(ctx, client, repo, app)
		e.check(ctx, "configuration", func(ctx context.Context) finding { return configurationOf(ctx, client, repo) })
	}
}

// The limits of what a list of repositories comes to.
const (
	maxExamined = 10 // that are examined one by one
	maxNamed    = 50
)

// resolved prints the repositories that a list with patterns matches, and returns those to examine.
func (e *checkup) resolved(ctx context.Context, client *github.Client, list forgeside.Repositories) (repos []string, err error) {
	e.check(ctx, "repositories", func(ctx context.Context) finding {
		if err = list.Permitted(client); err != nil {
			return failed("", err.Error(), "")
		}
		var found forgeside.Resolved
		if found, err = list.Resolve(ctx, client, func(string) bool { return true }); err != nil {
			return failed("", err.Error(), "")
		}
		all, archived := []string{}, []string{}
		for _, one := range found.Of(list) {
			if one.Archived {
				archived = append(archived, one.Name)
			} else {
				all = append(all, one.Name)
			}
		}
		repos = all[:min(len(all), maxExamined)]
		detail := fmt.Sprintf("%s: %d, %s", strings.Join(list, " "), len(all), orNone(strings.Join(all[:min(len(all), maxNamed)], ", ")))
		if len(all) > maxExamined {
			detail += fmt.Sprintf("; the first %d are looked at below", maxExamined)
		}
		if len(archived) > 0 {
			detail += "; archived, so that they rest: " + strings.Join(archived, ", ")
		}
		for _, name := range slices.Sorted(maps.Keys(found.Missing)) {
			detail += fmt.Sprintf("; nothing of %s: %v", name, found.Missing[name])
		}
		if len(all) == 0 || len(found.Missing) > 0 {
			return finding{"", worry, detail, "the App is installed by the owner; a token has to be one that may write there"}
		}
		return finding{"", fine, detail, ""}
	})
	return repos, err
}

// configurationOf reports whether the configuration of the repository can be read, and is right.
func configurationOf(ctx context.Context, client *github.Client, repo string) finding {
	unread := func(err error) finding {
		return finding{"", worry, fmt.Sprintf("%s: it cannot be read, so the operator's values count: %v", repo, err),
			"grant contents: read; the roles that change code need contents: write"}
	}
	commit, err := client.Newest(ctx, repo)
	if errors.Is(err, forge.ErrNotFound) {
		return finding{"", fine, repo + " has none: it is empty", ""}
	}
	if err != nil {
		return unread(err)
	}
	names, err := client.Files(ctx, repo, commit, repoconfig.Dir)
	if err != nil {
		return unread(err)
	}
	for _, name := range repoconfig.Files() {
		if !slices.Contains(names, name) {
			continue
		}
		at := path.Join(repoconfig.Dir, name)
		text, err := client.File(ctx, repo, commit, at)
		if err != nil {
			return unread(err)
		}
		config, err := repoconfig.Parse(at, text)
		if err != nil {
			return failed("", fmt.Sprintf("%s: it is wrong: %v", repo, err), "mend it on the default branch; signalbox config check FILE checks a file")
		}
		return finding{"", fine, fmt.Sprintf("%s: %s at %.12s, SHA-256 %s", repo, at, commit, config.Hash), ""}
	}
	return finding{"", fine, repo + " has none; that of its owner, if any, and the operator's values count", ""}
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
			return failed("", err.Error(), reachAdvice(err))
		}
		return finding{"", fine, flags.URL + " answers; --repo OWNER/NAME checks a repository", ""}
	}
	return finding{"", fine, flags.URL + " has " + strings.Join(repos, ", "), ""}
}

// reachAdvice returns what to do about a forge that does not answer as it should.
func reachAdvice(err error) string {
	if errors.Is(err, forge.ErrUnavailable) {
		return "try again later, and look at its status page; if it never answered, --forge-url is the address of its REST API, such as https://api.github.com/"
	}
	return "--forge-url is the address of its REST API, such as https://api.github.com/"
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
