package app

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
)

// fact is what happened to a commit, a branch or a conversation: when a pull request was
// changed does not show it.
type fact struct {
	event string
	id    string // of the fact, however often it is delivered; "" if reading the pull request is enough
	// Keys of the pull request: its number, else the branch it is to be merged into,
	// else its newest commit. The branches are those that the commit is on.
	pulls    []int
	base     string
	sha      string
	branches []string
	app      string // whose check it is; what ours say is nothing new
}

// The actions of checks that are heard.
const (
	completed   = "completed"
	rerequested = "rerequested"
)

// checked is a check run, a check suite, or a run of a workflow.
type checked struct {
	ID          int64
	Name        string
	HeadSHA     string `json:"head_sha"`
	HeadBranch  string `json:"head_branch"`
	Conclusion  string
	CompletedAt string `json:"completed_at"`
	UpdatedAt   string `json:"updated_at"`
	Attempt     int    `json:"run_attempt"`
	App         struct{ Slug string }
	Suite       struct {
		HeadBranch string `json:"head_branch"`
	} `json:"check_suite"`
	Pulls []struct {
		Number int
		Head   struct{ SHA string }
		Base   struct{ Repo struct{ ID int64 } }
	} `json:"pull_requests"`
}

// ofCheck reads what became of a check.
type ofCheck struct{}

func (ofCheck) missing(p payload) string {
	if c := p.check(); c == nil || c.ID == 0 || c.HeadSHA == "" {
		return "a check of a commit"
	}
	return ""
}

// check returns the check that the delivery is of, nil if it is of none.
func (p payload) check() *checked {
	for _, c := range []*checked{p.Run, p.Suite, p.Workflow} {
		if c != nil {
			return c
		}
	}
	return nil
}

func (ofCheck) read(p payload, d *delivery) {
	c := p.check()
	f := fact{event: d.event, sha: c.HeadSHA, branches: []string{c.HeadBranch, c.Suite.HeadBranch}, app: c.App.Slug}
	switch {
	case d.action == rerequested: // only of our own, by a person
		f.id, f.app = d.again(), ""
	case p.Run != nil && (c.Name == rules.GatesCheck || c.Name == rules.ConfigurationCheck || slices.Contains([]string{"success", "neutral", "skipped"}, c.Conclusion)):
		return // ours is not news; its suite reports a check that passes
	case p.Run != nil:
		f.id = fmt.Sprintf("check_run %d %s %s", c.ID, c.Conclusion, c.CompletedAt)
	case p.Suite != nil:
		f.id = fmt.Sprintf("check_suite %d %s %s", c.ID, c.Conclusion, c.UpdatedAt)
	default:
		f.id = fmt.Sprintf("workflow_run %d %d %s", c.ID, c.Attempt, c.Conclusion)
	}
	for _, pull := range c.Pulls { // also those of forks' parents
		if of := pull.Base.Repo.ID; (of == 0 || of == p.Repository.ID) && (pull.Head.SHA == "" || pull.Head.SHA == c.HeadSHA) {
			f.pulls = append(f.pulls, pull.Number)
		}
	}
	d.facts = []fact{f.inQueue()}
}

// again returns the id of a fact that only its delivery tells from others of its kind.
func (d delivery) again() string { return "delivery " + d.id }

// ofThread reads that a conversation was resolved, or opened again. No time of the pull
// request shows it.
type ofThread struct{ ofPull }

func (ofThread) read(p payload, d *delivery) {
	d.facts = []fact{{event: d.event, id: d.again(), pulls: []int{p.Pull.Number}}}
}

// commitStatus is the status of a commit, as older CI sets them.
type commitStatus struct {
	ID       int64
	SHA      string
	State    string
	Branches []struct{ Name string }
}

// ofStatus reads what became of a status of a commit.
type ofStatus struct{}

func (ofStatus) missing(p payload) string {
	if p.ID == 0 || p.SHA == "" {
		return "a commit"
	}
	return ""
}

func (ofStatus) read(p payload, d *delivery) {
	if p.State == "pending" {
		return
	}
	f := fact{event: d.event, id: fmt.Sprint("status ", p.ID), sha: p.SHA}
	for _, b := range p.Branches {
		f.branches = append(f.branches, b.Name)
	}
	d.facts = []fact{f.inQueue()}
}

// pushed is a move of a branch or a tag.
type pushed struct {
	Ref, Before, After string
	Deleted            bool
	Commits            []struct{ Added, Modified, Removed []string }
}

// configures reports whether a push changes the configuration of the repository, as far as its
// commits are listed.
func (p payload) configures(branch string) bool {
	for _, c := range p.Commits {
		for _, name := range slices.Concat(c.Added, c.Modified, c.Removed) {
			if dir, file := path.Split(name); dir == repoconfig.Dir+"/" && slices.Contains(repoconfig.Files(), file) {
				return p.Repository.Branch == "" || p.Repository.Branch == branch
			}
		}
	}
	return false
}

// ofPush reads a push: to the branch of a pull request, or to the one it is to be merged
// into.
type ofPush struct{}

func (ofPush) missing(p payload) string {
	if p.Ref == "" || p.After == "" {
		return "a ref"
	}
	return ""
}

func (ofPush) read(p payload, d *delivery) {
	branch, ok := strings.CutPrefix(p.Ref, "refs/heads/")
	if !ok || p.Deleted || queued(branch) > 0 { // a pull request whose branch is deleted is closed
		return
	}
	d.configures = p.configures(branch)
	d.facts = []fact{
		{event: d.event, sha: p.After, branches: []string{branch}},
		{event: d.event, id: fmt.Sprintf("push %s %s %s", branch, p.Before, p.After), base: branch, sha: p.After},
	}
}

// ofGroup reads what a merge queue does with a pull request.
type ofGroup struct{}

func (ofGroup) missing(p payload) string {
	if p.Group == nil || p.Group.HeadSHA == "" || p.Group.HeadRef == "" {
		return "a merge group"
	}
	return ""
}

func (ofGroup) read(p payload, d *delivery) {
	f := fact{event: d.event, id: fmt.Sprintf("merge_group %s %s %s", p.Group.HeadSHA, p.Action, p.Reason), branches: []string{p.Group.HeadRef}}
	if f = f.inQueue(); len(f.pulls) > 0 {
		d.facts = []fact{f}
	}
}

// queueBranch matches the branch on which a merge queue tests a pull request.
var queueBranch = regexp.MustCompile(`^(?:refs/heads/)?gh-readonly-queue/.+/pr-([0-9]{1,9})-[0-9a-f]{7,64}$`)

// queued returns the pull request that a merge queue tests on the branch, 0 if the branch
// is not a merge queue's.
func queued(branch string) int {
	m := queueBranch.FindStringSubmatch(branch)
	if m == nil {
		return 0
	}
	number, _ := strconv.Atoi(m[1])
	return number
}

// inQueue returns the fact with the pull requests that its branches are a merge queue's of.
func (f fact) inQueue() fact {
	for _, branch := range f.branches {
		if number := queued(branch); number > 0 && !slices.Contains(f.pulls, number) {
			f.pulls = append(f.pulls, number)
		}
	}
	return f
}
