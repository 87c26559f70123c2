package effectcheck_test

import (
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/testkit/effectcheck"
)

// issue asks its reporter, waits for people once more, and ends with pull request 11.
func (s *fixture) issue(d *workflow.Definition) {
	const id, branch = repo + "/1", "signalbox/issue-1-it-is-wrong"
	s.repo().Issues = append(s.repo().Issues, effectcheck.Issue{Number: 1, Author: "ann", Labels: []string{"bug"}})
	s.say(id, opened(d, 1, "requirements_unclear"))
	s.say(id, claims("pm"))
	s.say(id, did("pm", "requirements_unclear", data("comment_url", address(1, 1))), moved(d, "requirements_unclear", "waiting_for_requirements_clarification"))
	s.say(id, moved(d, "waiting_for_requirements_clarification", "implementing"))
	s.say(id, claims("developer"))
	s.say(id, did("developer", "implementing", instance.Result{Head: "i1"}), moved(d, "implementing", "creating_pr"))
	s.say(id, claims("pm"))
	s.say(id, claims("pm")) // the first one died
	r := data("comment_url", address(1, 2), "pr_url", "http://forge/acme/widgets/pull/11", "pr_number", "11", "branch", branch, "pushed", "i1")
	s.say(id, did("pm", "creating_pr", r), moved(d, "creating_pr", "completed"))
	s.on(branch, "i1", "")
	s.pull(11, id, branch, "i1")
	s.repo().Comments = append(s.repo().Comments, comment(1, 1, id, "questions-1"), comment(2, 1, id, "pull-request"))
}

// pipeline ends with pull request 12.
func (s *fixture) pipeline(d *workflow.Definition) {
	const id, branch = repo + "/2", "agent/issue-2"
	s.repo().Issues = append(s.repo().Issues, effectcheck.Issue{Number: 2, Author: "ann", Labels: []string{"bug"}})
	s.say(id, opened(d, 2, "writer"))
	s.say(id, claims("writer"))
	s.say(id, did("writer", "writer", instance.Result{Head: "p1"}), moved(d, "writer", "committer"))
	s.say(id, claims("committer"))
	r := data("pr_url", "http://forge/acme/widgets/pull/12", "pr_number", "12", "branch", branch)
	s.say(id, did("committer", "committer", r), moved(d, "committer", "completed"))
	s.on(branch, "p1", "")
	s.pull(12, id, branch, "p1")
}

// task ends on a branch.
func (s *fixture) task(d *workflow.Definition) {
	const id, branch = "T-1", "signalbox/task-T-1"
	s.say(id, opened(d, 0, "in_progress"))
	s.say(id, claims("fullstack-developer"))
	s.say(id, did("fullstack-developer", "in_progress", instance.Result{Head: "t1"}), moved(d, "in_progress", "approved"))
	keeps := moved(d, "approved", "committing")
	keeps.KeepsClaim = true
	s.say(id, claims("git-manager"), keeps)
	s.say(id, did("git-manager", "committing", data("branch", branch, "commit", "t1")), moved(d, "committing", "completed"))
	s.on(branch, "t1", "")
}

// story is reviewed, answers, and is merged as pull request 13.
func (s *fixture) story(d *workflow.Definition) {
	const id, branch = "US-1", "signalbox/story-us-1"
	s.say(id, opened(d, 0, "pending"))
	s.say(id, claims("developer"))
	s.say(id, did("developer", "pending", instance.Result{Head: "s1"}), moved(d, "pending", "committed"))
	s.say(id, claims("shepherd"))
	r := data("prNumber", "13", "branch", branch, "pushed", "s1")
	s.say(id, did("shepherd", "committed", r), instance.Remembered{Vars: r.Data}, moved(d, "committed", "pushed"))
	s.say(id, claims("shepherd"))
	s.say(id, instance.Asked{Number: 1, From: "shepherd", To: "developer", Text: "### line 7\n> louder"}, instance.Dispatched{Owner: "developer", Question: 1})
	s.say(id, claims("developer"))
	answered := did("developer", "pushed", instance.Result{Head: "s2"})
	answered.Question = 1
	s.say(id, answered, instance.Dispatched{Owner: "shepherd"})
	s.say(id, claims("shepherd"))
	s.say(id, did("shepherd", "pushed", data("outcome", "responded", "answered", "1", "pushed", "s2")), moved(d, "pushed", "pushed"))
	s.say(id, claims("shepherd"))
	s.say(id, did("shepherd", "pushed", data("outcome", "ready", "merging", "s2")), instance.Remembered{Vars: map[string]string{"merging": "s2"}}, moved(d, "pushed", "pushed"))
	s.say(id, claims("shepherd"))
	r = data("outcome", "merged")
	r.Evidence = []instance.Evidence{{Name: "merged", OK: true, Data: map[string]string{"sha": "m1"}}}
	s.say(id, did("shepherd", "pushed", r), moved(d, "pushed", "merged"))
	s.on(branch, "s1", "")
	s.on(branch, "s2", "s1")
	s.pull(13, id, branch, "s2")
	repo := s.repo()
	pr := &repo.Pulls[len(repo.Pulls)-1]
	pr.Merged, pr.MergedBy, pr.MergeSHA = true, bot, "m1"
	repo.Moves = append(repo.Moves, effectcheck.Move{Actor: bot, Branch: "main", Before: "base", After: "m1", Kind: "pr_merge"})
	repo.Branches["main"], repo.Parents["m1"] = "m1", []string{"base"}
	repo.Comments = append(repo.Comments, comment(3, 13, id, "answer-1"))
	line := comment(4, 13, id, "answer-1")
	line.Thread = 7
	repo.Replies = append(repo.Replies, effectcheck.Comment{ID: 7, Thread: 7, Number: 13, Author: "ann", Body: "louder"}, line)
}

// escalated has been told to people twice, and waits for them.
func (s *fixture) escalated(d *workflow.Definition) {
	const id = repo + "/3"
	s.repo().Issues = append(s.repo().Issues, effectcheck.Issue{Number: 3, Author: "ann", Labels: []string{"bug"}})
	s.say(id, opened(d, 3, "blocked"))
	s.say(id, moved(d, "blocked", "writer"))
	s.say(id, claims("writer"))
	s.say(id, instance.Escalated{Number: 1, Agent: "writer", RequiresHuman: true})
	s.say(id, instance.Resolved{Number: 1})
	s.say(id, claims("writer"))
	s.say(id, instance.Escalated{Number: 2, Agent: "writer", RequiresHuman: true})
	s.repo().Comments = append(s.repo().Comments, comment(5, 3, id, "waits-blocked-1"), comment(6, 3, id, "escalation-2")) // 1 was resolved before it was told
}
