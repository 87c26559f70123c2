package effectcheck

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
)

// intends notes what a claim in this state may come to on the forge.
func (t *trail) intends(seq uint64) {
	comment := func(key string) {
		if _, known := t.may[key]; !known {
			t.may[key] = seq
		}
	}
	switch t.role + " in " + t.state {
	case "pm in requirements_unclear":
		comment(t.numbered("questions-"))
	case "pm in blocked":
		comment(t.numbered("blocked-"))
	case "pm in creating_pr":
		t.mayBranch, t.mayPull = seq, seq
		comment("pull-request")
		comment(t.numbered("push-"))
	case "committer in committer", "shepherd in committed":
		t.mayBranch, t.mayPull = seq, seq
	case "git-manager in committing":
		t.mayBranch = seq
	case "shepherd in pushed":
		t.mayBranch = seq
		for n, q := range t.asked {
			if q.From == "shepherd" && q.To != "" {
				comment(answer(n))
			}
		}
	}
}

// reported notes what a result says was done on the forge.
func (t *trail) reported(seq uint64, e instance.Reported) {
	r := e.Result
	if t.heads[r.Base] == 0 {
		t.works(r.Base)
	}
	t.works(r.Head)
	if e.Question != 0 {
		return
	}
	t.last = r.Data
	if r.Status != instance.Success && r.Data["comment_url"] == "" {
		return
	}
	record := func(key string) { t.must[key], t.urls[key] = seq, r.Data["comment_url"] }
	switch e.Role + " in " + e.State {
	case "pm in requirements_unclear":
		if r.Data["comment_url"] != "" {
			record(t.numbered("questions-"))
		}
	case "pm in blocked":
		if r.Data["comment_url"] != "" {
			record(t.numbered("blocked-"))
		}
	case "pm in creating_pr":
		if r.Status != instance.Success {
			record(t.numbered("push-"))
			return
		}
		record("pull-request")
		t.delivered(r.Data["branch"], r.Data["pushed"], r.Data["pr_number"])
	case "committer in committer":
		t.delivered(r.Data["branch"], t.head, r.Data["pr_number"])
	case "git-manager in committing":
		t.delivered(r.Data["branch"], r.Data["commit"], "")
	case "shepherd in committed":
		t.delivered(r.Data["branch"], r.Data["pushed"], r.Data["prNumber"])
	case "shepherd in pushed":
		t.shepherded(seq, r)
	}
}

// delivered notes a branch that was brought to a commit, and a pull request.
func (t *trail) delivered(branch, commit, pull string) {
	t.branch, t.pushed = branch, commit
	t.handed = append(t.handed, commit)
	if t.heads[commit] == 0 {
		t.heads[commit] = len(t.heads) + 1
	}
	if n, err := strconv.Atoi(pull); err == nil {
		t.pull = n
	}
}

func (t *trail) shepherded(seq uint64, r instance.Result) {
	switch r.Data["outcome"] {
	case "ready":
		t.ready[r.Data["merging"]] = true
	case "responded":
		if commit := r.Data["pushed"]; commit != "" {
			t.pushed, t.handed = commit, append(t.handed, commit)
		}
		n, _ := strconv.Atoi(r.Data["answered"])
		if remark.MatchString(t.asked[n].Text) { // else nobody said anything
			t.must[answer(n)] = seq
		}
	case "merged":
		for _, ev := range r.Evidence {
			if ev.Name == "merged" && ev.OK {
				t.merged = ev.Data["sha"]
			}
		}
	}
}

func answer(question int) string { return fmt.Sprintf("answer-%d", question) }

// remark is a line of a question that puts something somebody said.
var remark = regexp.MustCompile(`(?m)^### (review|line|comment) \d+\b`)

// owns reports whether the branch is the instance's by its name.
func (t *trail) owns(repo, branch string) bool {
	if t.issue.Repo != repo {
		return false
	}
	if branch == t.branch || branch == t.vars["branch"] && branch != "" {
		return true
	}
	words := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
		}), "-")
	}
	numbered := fmt.Sprintf("signalbox/issue-%d", t.issue.Number)
	return t.issue.Number != 0 && (branch == numbered || strings.HasPrefix(branch, numbered+"-") || branch == fmt.Sprintf("agent/issue-%d", t.issue.Number)) ||
		branch == "signalbox/task-"+words(t.id) || branch == "signalbox/story-"+strings.ToLower(words(strings.TrimPrefix(t.id, repo+"/")))
}
