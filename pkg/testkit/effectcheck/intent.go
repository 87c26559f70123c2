package effectcheck

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// addIntents notes the effects that a claim in this state may have.
func (t *expectation) addIntents(seq uint64) {
	comment := func(key string) {
		if _, known := t.may[key]; !known {
			t.may[key] = seq
		}
	}
	switch t.role + " in " + t.state {
	case "pm in requirements_unclear":
		comment(t.keyOfVisit("questions-"))
	case "pm in blocked":
		comment(t.keyOfVisit("blocked-"))
	case "pm in creating_pr":
		t.mayBranch, t.mayPull = seq, seq
		comment("pull-request")
		comment(t.keyOfVisit("push-"))
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

// addReport notes the effects that a result records.
func (t *expectation) addReport(seq uint64, e instance.Reported) {
	r := e.Result
	if t.heads[r.Base] == 0 {
		t.addCommit(r.Base)
	}
	t.addCommit(r.Head)
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
		if at := r.Data["comment_url"]; at != "" && !t.askedAt(at) {
			record(t.keyOfVisit("questions-"))
		}
	case "pm in blocked":
		if r.Data["comment_url"] != "" {
			record(t.keyOfVisit("blocked-"))
		}
	case "pm in creating_pr":
		if r.Status != instance.Success {
			record(t.keyOfVisit("push-"))
			return
		}
		record("pull-request")
		t.addDelivery(r.Data["branch"], r.Data["pushed"], r.Data["pr_number"])
	case "committer in committer":
		t.addDelivery(r.Data["branch"], t.head, r.Data["pr_number"])
	case "git-manager in committing":
		t.addDelivery(r.Data["branch"], r.Data["commit"], "")
	case "shepherd in committed":
		t.addDelivery(r.Data["branch"], r.Data["pushed"], r.Data["prNumber"])
	case "shepherd in pushed":
		t.addShepherdReport(seq, r)
	}
}

// askedAt reports whether questions were put in the comment before: it was edited.
func (t *expectation) askedAt(url string) bool {
	for key, at := range t.urls {
		if strings.HasPrefix(key, "questions-") && sameAddress(at, url) {
			return true
		}
	}
	return false
}

// addDelivery notes that a branch was pushed, and the pull request if there is one.
func (t *expectation) addDelivery(branch, commit, pull string) {
	t.branch, t.pushed = branch, commit
	t.delivered = append(t.delivered, commit)
	if t.heads[commit] == 0 {
		t.heads[commit] = len(t.heads) + 1
	}
	if n, err := strconv.Atoi(pull); err == nil {
		t.pull = n
	}
}

func (t *expectation) addShepherdReport(seq uint64, r instance.Result) {
	switch r.Data["outcome"] {
	case "ready":
		t.ready[r.Data["merging"]] = true
	case "responded":
		if commit := r.Data["pushed"]; commit != "" {
			t.pushed, t.delivered = commit, append(t.delivered, commit)
		}
		n, _ := strconv.Atoi(r.Data["answered"])
		if remark.MatchString(t.asked[n].Text) { // without a remark there is no answer
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

// remark is the headline of a remark of a person in a question.
var remark = regexp.MustCompile(`(?m)^### (review|line|comment) \d+\b`)

// ownsBranch reports whether the name of the branch is one of the instance.
func (t *expectation) ownsBranch(repo, branch string) bool {
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
	return t.issue.Number != 0 &&
		(branch == numbered || strings.HasPrefix(branch, numbered+"-") || branch == fmt.Sprintf("agent/issue-%d", t.issue.Number)) ||
		branch == "signalbox/task-"+words(t.id) || branch == "signalbox/story-"+strings.ToLower(words(strings.TrimPrefix(t.id, repo+"/")))
}
