package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Mine is `signalbox eval mine`.
type Mine struct {
	Tests
	Repo       string `name:"repo" required:"" type:"existingdir" placeholder:"DIR" help:"The git repository. Its checkout is not touched."`
	Branch     string `name:"branch" placeholder:"BRANCH" help:"Branch whose changes are taken; the one that is checked out by default."`
	Since      string `name:"since" placeholder:"DATE" help:"Only changes after it, as git log --since reads it: 2024-01-31, \"6 months ago\"."`
	Most       int    `name:"most" default:"0" help:"Stop at so many cases; 0 takes all."`
	Uncompiled bool   `name:"uncompiled" help:"Keep changes whose tests do not compile without them, too."`
	Issues     string `name:"issues" placeholder:"OWNER/NAME" help:"Take the text of a case from the issue on the forge that its change, or its pull request, closes."`
	Out        string `name:"out" required:"" type:"path" placeholder:"DIR" help:"New directory for the cases and a copy of the history."`

	Forge github.Flags `embed:"" prefix:"forge-" group:"Forge, for --issues"`
}

// Help returns the details.
func (Mine) Help() string {
	return `Each merged change, commit by commit of the branch's first parents, is tried as a case: with the tests of the change, the
code before it has to fail and the code with it to pass, twice each. Other changes are dropped, with a reason. The
text of a case is the change's message, or by --issues what was reported. DIR gets cases.jsonl, a case a line, and repo.git, the history they need.`
}

// Run makes cases of a repository's history.
func (c Mine) Run(ctx context.Context, env *term.Env) error {
	if err := newDir(c.Out, false); err != nil {
		return service.Usagef("--out: %w", err)
	}
	g, head, err := copyRepository(ctx, c.Repo, c.Branch, filepath.Join(c.Out, casesRepo))
	if err != nil {
		return service.Usagef("--repo %s: %w", c.Repo, err)
	}
	j, err := c.judge(ctx, g.Dir(), c.Out)
	if err != nil {
		return err
	}
	defer os.RemoveAll(j.dir)
	texts, err := c.issues(ctx)
	if err != nil {
		return err
	}
	start := env.Now()
	m := miner{judge: j, git: g, since: c.Since, most: c.Most, uncertain: c.Uncompiled, parallel: c.Parallel}
	cases, dropped, err := m.mine(ctx, head, func(found Case, no *dropped) {
		if no == nil {
			fmt.Fprintf(env.Stderr, "%s  %s\n", found.ID, term.Line(found.Title))
		}
	})
	if err != nil {
		return err
	}
	if texts != nil {
		for i := range cases {
			if err := m.retell(ctx, *texts, &cases[i]); err != nil {
				return err
			}
		}
	}
	file, err := os.OpenFile(filepath.Join(c.Out, casesFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, one := range cases {
		_, werr := file.Write(one.encode())
		err = errors.Join(err, werr)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return c.print(env, cases, dropped, env.Now().Sub(start))
}

// issues returns where the texts of cases are, nil without --issues. It fails unless the
// forge has the repository.
func (c Mine) issues(ctx context.Context) (*issues, error) {
	if c.Issues == "" {
		return nil, nil
	}
	if owner, name, ok := strings.Cut(c.Issues, "/"); !ok || owner == "" || name == "" || strings.ContainsAny(name, "/ ") {
		return nil, service.Usagef("--issues %q: want OWNER/NAME, such as acme/widgets", c.Issues)
	}
	f, err := c.Forge.Client()
	if err != nil {
		return nil, service.Usagef("--issues: %w", err)
	}
	if _, err := f.Repository(ctx, c.Issues); err != nil {
		return nil, fmt.Errorf("--issues %s: %w", c.Issues, err)
	}
	return &issues{f, c.Issues}, nil
}

// print prints the number of cases, and why other changes are none.
func (c Mine) print(env *term.Env, cases []Case, all []dropped, took time.Duration) error {
	if env.JSON {
		return env.Print(struct {
			Cases   int       `json:"cases"`
			Dropped []dropped `json:"dropped"`
			Millis  int64     `json:"millis"`
		}{len(cases), all, took.Milliseconds()})
	}
	env.Printf("%d cases of %d changes, in %s: %s\n", len(cases), len(cases)+len(all), took.Round(time.Second), filepath.Join(c.Out, casesFile))
	if c.Issues != "" {
		reported := 0
		for _, one := range cases {
			if one.Issue > 0 {
				reported++
			}
		}
		env.Printf("%6d with the text of an issue of %s, the others with the change's message\n", reported, c.Issues)
	}
	count := map[string]int{}
	var reasons []string
	for _, d := range all {
		if count[d.Reason]++; count[d.Reason] == 1 {
			reasons = append(reasons, d.Reason)
		}
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return count[b] - count[a] })
	for _, reason := range reasons {
		env.Printf("%6d dropped: %s\n", count[reason], reason)
	}
	for _, line := range c.advice(len(cases), count) {
		env.Printf("%s\n", line)
	}
	return nil
}

// advice reports whether the cases are enough to tell brains apart, and how to get more and
// better ones.
func (c Mine) advice(cases int, dropped map[string]int) (lines []string) {
	if needed := casesFor(usualSplit); cases < needed {
		lines = append(lines, fmt.Sprintf("A difference of 10 points between two brains wants about %d cases: mine more repositories, or more of this one's history.", needed))
	}
	if n := dropped[noNames]; n > 0 && !c.Uncompiled {
		lines = append(lines, fmt.Sprintf("--uncompiled keeps the %d whose tests do not compile without the change.", n))
	}
	if c.Issues == "" {
		lines = append(lines, "--issues OWNER/NAME takes the text of a case from the issue that its change closes, which has more detail than the change's message.")
	}
	return lines
}
