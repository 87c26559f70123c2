package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/git"
)

// Reasons why a change is no case.
const (
	noTests    = "it changes no test"
	noCode     = "it changes nothing but tests and documents"
	isFirst    = "there is nothing before it"
	noTitle    = "its message has no title"
	notRun     = "its tests cannot be run here"
	passBefore = "its tests pass without it"
	failAfter  = "its tests fail with it"
	unsteady   = "its tests do not end the same way twice"
	noNames    = "its tests do not compile without it: nobody could know the names they use"
)

// dropped is a change that is no case.
type dropped struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// miner makes cases of a repository's changes.
type miner struct {
	judge
	git       git.Runner // of the judge's repository
	since     string     // as git log --since
	most      int        // cases
	uncertain bool       // keep changes whose tests do not compile without them
	parallel  int
}

// copyRepository makes dir a bare repository with the history of a branch of source. The
// configuration of source is not read by anything that transfers.
func copyRepository(ctx context.Context, source, branch, dir string) (git.Runner, string, error) {
	reader := git.New(source).WithEnv("GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	head, err := reader.Run(ctx, "rev-parse", "--verify", "-q", cmp.Or(branch, "HEAD")+"^{commit}")
	if err != nil {
		return git.Runner{}, "", fmt.Errorf("there is no commit %s: %w", cmp.Or(branch, "HEAD"), err)
	}
	objects, err := reader.Run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return git.Runner{}, "", err
	}
	g := git.New(dir).WithEnv("GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	if _, err := git.New("").Run(ctx, "init", "--quiet", "--bare", "--template=", dir); err != nil {
		return g, "", err
	}
	alternates := filepath.Join(dir, "objects", "info", "alternates")
	if err := os.MkdirAll(filepath.Dir(alternates), 0o700); err != nil {
		return g, "", err
	}
	if err := os.WriteFile(alternates, []byte(objects+"\n"), 0o600); err != nil {
		return g, "", err
	}
	if _, err := g.Run(ctx, "update-ref", "refs/heads/cases", head); err != nil {
		return g, "", err
	}
	if _, err := g.Run(ctx, "repack", "-a", "-d", "-q"); err != nil {
		return g, "", err
	}
	return g, head, os.Remove(alternates)
}

// mine returns the cases, the newest first, and why other changes are none. tell gets each as
// it is known.
func (m miner) mine(ctx context.Context, head string, tell func(Case, *dropped)) ([]Case, []dropped, error) {
	args := []string{"rev-list", "--first-parent"}
	if m.since != "" {
		args = append(args, "--since="+m.since)
	}
	out, err := m.git.Run(ctx, append(args, head)...)
	if err != nil {
		return nil, nil, err
	}
	commits := strings.Fields(out)
	found := make([]outcome, len(commits))
	var mu sync.Mutex
	next, cases := 0, 0
	var failed error
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if next == len(commits) || m.most > 0 && cases >= m.most || failed != nil {
			return -1
		}
		next++
		return next - 1
	}
	var all sync.WaitGroup
	for range m.parallel {
		all.Go(func() {
			for i := take(); i >= 0; i = take() {
				o, err := m.examine(ctx, commits[i])
				mu.Lock()
				if err != nil {
					failed = errors.Join(failed, fmt.Errorf("%.12s: %w", commits[i], err))
				} else {
					found[i] = o
					if o.dropped == nil {
						cases++
					}
					tell(o.Case, o.dropped)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if failed != nil {
		return nil, nil, failed
	}
	var good []Case
	var bad []dropped
	for _, o := range found[:next] {
		switch {
		case o.dropped != nil:
			bad = append(bad, *o.dropped)
		case m.most == 0 || len(good) < m.most:
			good = append(good, o.Case)
		}
	}
	return good, bad, nil
}

// outcome is a case, or why it is none.
type outcome struct {
	Case
	*dropped
}

// examine makes a commit a case, or says why it is none. It runs the tests twice before
// the change and twice with it.
func (m miner) examine(ctx context.Context, commit string) (outcome, error) {
	c, drop, err := m.read(ctx, commit)
	no := func(reason, detail string) (outcome, error) {
		return outcome{dropped: &dropped{c.Case.ID, c.Case.Title, reason, firstLine(detail)}}, nil
	}
	if err != nil || drop != "" {
		o, _ := no(drop, "")
		return o, err
	}
	var before, after instance.Evidence
	for round := range 2 {
		with, err := m.try(ctx, code{m.repo, c.Commit}, c.Case)
		switch {
		case errors.Is(err, testrun.ErrNoTests):
			return no(notRun, err.Error())
		case err != nil:
			return outcome{}, err
		case testrun.Obstacle(with) != "":
			return no(notRun, testrun.Obstacle(with))
		case round == 1 && !with.OK:
			return no(unsteady, with.Output)
		case !with.OK:
			return no(failAfter, with.Output)
		}
		without, err := m.try(ctx, code{m.repo, c.Base}, c.Case)
		switch {
		case errors.Is(err, testrun.ErrNoTests):
			return no(notRun, err.Error())
		case err != nil:
			return outcome{}, err
		case round == 1 && (without.OK || !slices.Equal(sorted(without.Failed), sorted(before.Failed))):
			return no(unsteady, strings.Join(without.Failed, " "))
		case without.OK:
			return no(passBefore, "")
		case !m.uncertain && slices.ContainsFunc(without.Failed, unbuilt):
			return no(noNames, without.Output)
		}
		before, after = without, with
	}
	c.Case.Command, c.Case.Failing, c.Case.Millis = after.Command, sorted(before.Failed), after.Millis
	return outcome{Case: c.Case}, nil
}

// unbuilt reports whether the name is that of a Go package that does not compile.
func unbuilt(name string) bool { return strings.HasSuffix(name, "(build failed)") }

// read reads a commit. drop says why it is no case, as far as its files tell.
func (m miner) read(ctx context.Context, commit string) (o outcome, drop string, err error) {
	text, err := m.git.Run(ctx, "show", "--no-patch", "--format=%P%n%B", commit)
	if err != nil {
		return o, "", err
	}
	parents, message, _ := strings.Cut(text, "\n")
	c := Case{ID: commit[:12], Commit: commit}
	c.Title, c.Body = parseMessage(message)
	c.Base, _, _ = strings.Cut(parents, " ")
	o.Case = c
	switch {
	case c.Base == "":
		return o, isFirst, nil
	case c.Title == "":
		return o, noTitle, nil
	}
	changed, err := m.git.Run(ctx, "diff", "--name-only", "-z", "--no-renames", c.Base, commit)
	if err != nil {
		return o, "", err
	}
	product := false
	for _, name := range fields(changed) {
		content, err := m.content(ctx, commit, name)
		if err != nil {
			return o, "", err
		}
		switch kind := testrun.KindOf(name, content); {
		case kind == testrun.Test, kind == testrun.Harness && strings.HasSuffix(name, "_test.go"):
			c.Tests = append(c.Tests, name)
		case kind == testrun.Product && !document(name):
			product = true
		}
	}
	o.Case = c
	switch {
	case len(c.Tests) == 0:
		return o, noTests, nil
	case !product:
		return o, noCode, nil
	}
	return o, "", nil
}

// content returns a file of a commit, nothing if it has none.
func (m miner) content(ctx context.Context, commit, name string) ([]byte, error) {
	there, err := names(ctx, m.git, commit, []string{name})
	if err != nil || len(there) == 0 {
		return nil, err
	}
	text, err := m.git.Output(ctx, 1<<20, "cat-file", "blob", commit+":"+name)
	if errors.Is(err, git.ErrTooLarge) {
		return text, nil
	}
	return text, err
}

// document reports whether a file is for people to read.
func document(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".rst", ".txt", ".adoc":
		return true
	}
	return strings.HasPrefix(name, "docs/") || filepath.Ext(name) == "" && strings.ToUpper(name) == name
}

// fields splits what git separates by NUL.
func fields(out string) []string {
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(s string) bool { return s == "" })
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// firstLine is the first line of a text, cut.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return line
}
