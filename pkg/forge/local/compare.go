package local

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/git"
)

// comparison is what git says about a base and a head.
type comparison struct {
	mergeBase     string // empty when the histories have nothing in common
	ahead, behind int    // commits
	files         int
	additions     int // lines
	deletions     int // lines
	conflicts     bool
}

// comparisons remembers comparisons: they are of commits, so they never change.
type comparisons struct {
	mu    sync.Mutex
	known map[string]comparison
}

// asked counts how often somebody asked whether commits can be merged.
type asked struct {
	mu    sync.Mutex
	times map[string]int
}

// computing tells whether the answer is still being computed: it takes so many
// questions.
func (a *asked) computing(repo string, p *pull, questions int) bool {
	if questions == 0 {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.times == nil || len(a.times) >= maxKnown {
		a.times = map[string]int{}
	}
	key := repo + " " + p.BaseSHA + " " + p.HeadSHA
	a.times[key]++
	return a.times[key] <= questions
}

// maxKnown is how many comparisons are remembered before all are forgotten.
const maxKnown = 10_000

func (f *Forge) comparison(ctx context.Context, repo, base, head string) (comparison, error) {
	key := repo + " " + base + " " + head
	f.compare.mu.Lock()
	c, ok := f.compare.known[key]
	f.compare.mu.Unlock()
	if ok {
		return c, nil
	}
	c, err := compare(ctx, f.git(repo), base, head)
	if err != nil {
		return c, err
	}
	f.compare.mu.Lock()
	defer f.compare.mu.Unlock()
	if f.compare.known == nil || len(f.compare.known) >= maxKnown {
		f.compare.known = map[string]comparison{}
	}
	f.compare.known[key] = c
	return c, nil
}

func compare(ctx context.Context, g git.Runner, base, head string) (c comparison, err error) {
	c.mergeBase, err = g.Run(ctx, "merge-base", base, head)
	if git.ExitCode(err) == 1 {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	counts, err := g.Run(ctx, "rev-list", "--count", "--left-right", base+"..."+head)
	if err != nil {
		return c, err
	}
	left, right, _ := strings.Cut(counts, "\t")
	c.behind, _ = strconv.Atoi(left)
	c.ahead, _ = strconv.Atoi(right)
	stat, err := g.Run(ctx, "diff", "--shortstat", c.mergeBase, head)
	if err != nil {
		return c, err
	}
	for part := range strings.SplitSeq(stat, ",") {
		n, what, _ := strings.Cut(strings.TrimSpace(part), " ")
		count, _ := strconv.Atoi(n)
		switch {
		case strings.HasPrefix(what, "file"):
			c.files = count
		case strings.HasPrefix(what, "insertion"):
			c.additions = count
		case strings.HasPrefix(what, "deletion"):
			c.deletions = count
		}
	}
	_, c.conflicts, err = mergeTree(ctx, g, base, head)
	return c, err
}

// mergeTree merges two commits without a work tree and returns the tree.
func mergeTree(ctx context.Context, g git.Runner, ours, theirs string) (tree string, conflicts bool, err error) {
	out, err := g.Run(ctx, "merge-tree", "--write-tree", "--no-messages", ours, theirs)
	tree, _, _ = strings.Cut(out, "\n")
	if git.ExitCode(err) == 1 {
		return "", true, nil
	}
	return tree, false, err
}

// compareCommits answers base...head.
func compareCommits(c *call) (int, any, error) {
	ctx := c.Context()
	from, to, ok := strings.Cut(c.PathValue("range"), "...")
	if !ok {
		return 0, nil, errNotFound
	}
	base, err := c.f.commit(ctx, c.name(), from)
	if err != nil {
		return 0, nil, err
	}
	head, err := c.f.commit(ctx, c.name(), to)
	if err != nil {
		return 0, nil, err
	}
	about, err := c.f.comparison(ctx, c.name(), base, head)
	if err != nil {
		return 0, nil, err
	}
	if about.mergeBase == "" {
		return 0, nil, &failure{status: http.StatusNotFound, message: "No common ancestor between " + from + " and " + to + "."}
	}
	if media, ok := diffMedia(c.Request); ok {
		return c.diff(media, about.mergeBase, head)
	}
	commits, err := c.f.commits(ctx, c.name(), "--reverse", about.mergeBase+".."+head)
	if err != nil {
		return 0, nil, err
	}
	ends, err := c.f.commits(ctx, c.name(), "--no-walk=unsorted", base, about.mergeBase)
	if err != nil {
		return 0, nil, err
	}
	files, err := c.f.files(ctx, c.name(), about.mergeBase, head)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	url := v.repoURL(c.repo) + "/compare/" + from + "..." + to
	status := map[[2]bool]string{
		{false, false}: "identical", {true, false}: "ahead", {false, true}: "behind", {true, true}: "diverged",
	}[[2]bool{about.ahead > 0, about.behind > 0}]
	return http.StatusOK, object{
		"url": v.repoAPI(c.repo) + "/compare/" + from + "..." + to, "html_url": url, "permalink_url": url,
		"diff_url": url + ".diff", "patch_url": url + ".patch", "status": status,
		"ahead_by": about.ahead, "behind_by": about.behind, "total_commits": about.ahead,
		"base_commit": v.commit(c.repo, ends[0]), "merge_base_commit": v.commit(c.repo, ends[len(ends)-1]),
		"commits": each(page(c, commits), func(m commit) object { return v.commit(c.repo, m) }),
		"files":   each(files, func(d diffEntry) object { return v.file(c.repo, head, d) }),
	}, nil
}
