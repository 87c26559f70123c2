package forgeside

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/forge"
)

// RivalReader is what Rival reads with.
type RivalReader interface {
	Self(ctx context.Context) (string, error)
	PullRequest(ctx context.Context, repo string, number int) (forge.PullRequest, error)
	Mentions(ctx context.Context, repo string, issue int) ([]forge.Mention, error)
}

// branchPrefixes begin the names of the branches that we push.
var branchPrefixes = []string{"signalbox/", "agent/"}

// Ours reports whether a pull request is the instance's own, by its author, its marker and a branch of ours in the repository.
func Ours(pr forge.PullRequest, self, instance, repo string) bool {
	return pr.Author.Login == self && strings.EqualFold(pr.HeadRepo, repo) && strings.Contains(pr.Body, rules.Marker(instance, "pull-request")) &&
		slices.ContainsFunc(branchPrefixes, func(p string) bool { return strings.HasPrefix(pr.HeadRef, p) })
}

// Rival looks for another open pull request that closes the job's issue, or says so in words
// that the forge does not read. It returns which, and how people can go on; "" if there is none.
// One of Ours is a rival if its branch has no commit of this work, as after a restore of the
// log. Nothing on it is trusted. Rival looks no more once people have said to go on.
func Rival(ctx context.Context, from RivalReader, g Gate, job agent.Job, repo forge.Repository) (string, error) {
	if job.Issue.Number == 0 || ToldToGoOn(job) {
		return "", nil
	}
	mentions, err := from.Mentions(ctx, repo.Name, job.Issue.Number)
	if errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrNotFound) {
		return "", nil // it cannot be read: the branch and its name still tell our own
	}
	if err != nil {
		return "", err
	}
	self, err := from.Self(ctx)
	if err != nil {
		return "", err
	}
	for _, m := range mentions {
		if m.State != "open" {
			continue
		}
		pr, err := from.PullRequest(ctx, repo.Name, m.Number)
		if errors.Is(err, forge.ErrNotFound) || err == nil && pr.State != "open" {
			continue
		}
		if err != nil {
			return "", err
		}
		if !m.Closes && !claims(pr.Title+"\n"+pr.Body, job.Issue.Number) {
			continue
		}
		if !Ours(pr, self, job.Instance, repo.Name) {
			return fmt.Sprintf("%s%d of %s is open and closes this issue: %s. Say “go ahead” for a second one, or close this issue if that one does it",
				rivalOf, pr.Number, pr.Author.Login, pr.URL), nil
		}
		same := pr.HeadSHA == job.Head
		if !same && job.Head != "" && job.Head != job.Base {
			if same, err = g.Shares(ctx, job, repo, pr.HeadRef); err != nil {
				return "", err
			}
		}
		if !same {
			return fmt.Sprintf("%s%d is open for this issue, and is mine: %s. The log does not know its commits (branch %s at %.7s), as after a restore. "+
				"Merge it, or close it and say “go ahead” to have a new one", rivalOf, pr.Number, pr.URL, pr.HeadRef, pr.HeadSHA), nil
		}
	}
	return "", nil
}

// Alone escalates to people if the job has a Rival.
func Alone(ctx context.Context, from RivalReader, g Gate, job agent.Job, repo forge.Repository) error {
	rival, err := Rival(ctx, from, g, job, repo)
	if err == nil && rival != "" {
		err = EscalateToPeople("%s", rival)
	}
	return err
}

// Shares reports whether the branch has a commit of the job's work.
func (g Gate) Shares(ctx context.Context, job agent.Job, repo forge.Repository, branch string) (bool, error) {
	return g.Workspace.Shares(ctx, workspace.Meeting{Repo: repo.Name, Bundles: BundleObjects(job), Base: job.Base, Head: job.Head,
		From: g.Remote(ctx, repo), Branch: branch})
}

// rivalOf begins the text about a rival.
const rivalOf = "pull request #"

// ToldToGoOn reports whether people were asked about a rival, and said to go on.
func ToldToGoOn(job agent.Job) bool {
	if job.Last != nil && job.Last.Data[rules.Word] == rules.Yes && job.Last.Data[rules.Of] == job.State {
		return true
	}
	for _, e := range job.Escalations {
		if e.Resolved && strings.Contains(e.Reason, rivalOf) {
			return true
		}
	}
	return false
}

// claim matches the words by which people say that a pull request closes an issue, in
// languages in which a forge does not read them, and the number of the issue.
var claim = lazyregexp.New(`(?i)(?:(?:^|[^\p{L}])(?:implements|solves|` + // English
	`schlie(?:ß|ss)t|behebt|löst|` + // German
	`cierra|corrige|resuelve|soluciona|arregla|` + // Spanish
	`ferme|résout|` + // French, and corrige
	`fecha|resolve|conserta|` + // Portuguese
	`chiude|risolve|corregge|` + // Italian
	`sluit|` + // Dutch
	`zamyka|naprawia|rozwiązuje|` + // Polish
	`закрывает|исправляет|решает|закриває|виправляє|` + // Russian, Ukrainian
	`kapatır|düzeltir)|` + // Turkish
	`修复|修復|修正|关闭|關閉|解决|解決|クローズ)` + // Chinese, Japanese: without spaces between words
	`[\s:：]*#([0-9]{1,9})`)

// claims reports whether the text of a pull request says in one of these languages that it
// closes the issue of a number.
func claims(text string, issue int) bool {
	for _, m := range claim.FindAllStringSubmatch(text, -1) {
		if m[1] == strconv.Itoa(issue) {
			return true
		}
	}
	return false
}
