package localforge_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

const (
	annToken = "ann-token"
	bobToken = "bob-token"
)

// withOwners adds ann and bob, who can write.
func withOwners(c *localforge.Config) {
	c.Users = append(c.Users, localforge.User{Login: "ann", Token: annToken, Permission: "write"}, localforge.User{Login: "bob", Token: bobToken, Permission: "write"})
}

// pushAll commits files, each with its name as its content, and pushes them as a branch. A
// new branch starts at main.
func pushAll(t *testing.T, g git.Runner, branch string, files ...string) {
	t.Helper()
	if gittest.Run(t, g, "branch", "--list", branch) == "" {
		gittest.Run(t, g, "checkout", "-q", "main")
	}
	gittest.Run(t, g, "checkout", "-q", "-B", branch)
	for _, file := range files {
		must(t, os.MkdirAll(filepath.Join(g.Dir(), filepath.Dir(file)), 0o700))
		StoreXWrite(t, g, file, file+"\n")
	}
	gittest.Run(t, g, "add", ".")
	gittest.Run(t, g, "commit", "-q", "-m", "Write "+strings.Join(files, ", "))
	gittest.Run(t, g, "push", "-q", "origin", branch)
}

// own puts lines into a file of main.
func own(t *testing.T, g git.Runner, file string, lines ...string) {
	t.Helper()
	gittest.Run(t, g, "checkout", "-q", "main")
	must(t, os.MkdirAll(filepath.Join(g.Dir(), filepath.Dir(file)), 0o700))
	StoreXPush(t, g, "main", file, strings.Join(lines, "\n")+"\n")
}

// openPull opens a pull request of the branch into main.
func openPull(t *testing.T, c *github.Client, branch string, draft bool) *github.PullRequest {
	t.Helper()
	pr, _, err := c.PullRequests.Create(t.Context(), owner, name, &github.NewPullRequest{
		Title: github.String(branch), Head: &branch, Base: github.String("main"), Draft: &draft,
	})
	must(t, err)
	return pr
}

// requested returns who is requested as a reviewer, sorted.
func requested(pr *github.PullRequest) string {
	var logins []string
	for _, u := range pr.RequestedReviewers {
		logins = append(logins, u.GetLogin())
	}
	slices.Sort(logins)
	return strings.Join(logins, " ")
}

// review reviews the pull request.
func (e *env) review(t *testing.T, token string, number int, verdict string) *github.PullRequestReview {
	t.Helper()
	made, _, err := e.client(t, token).PullRequests.CreateReview(t.Context(), owner, name, number,
		&github.PullRequestReviewRequest{Event: &verdict, Body: github.String("So.")})
	must(t, err)
	return made
}

// decision returns the decision on the reviews of a pull request.
func (e *env) decision(t *testing.T, number int) string {
	t.Helper()
	answer := e.query(t, robToken, fmt.Sprintf(`{repository(owner:"acme",name:"widgets"){pullRequest(number:%d){reviewDecision}}}`, number))
	_, decision, _ := strings.Cut(answer, `"reviewDecision":`)
	return strings.Trim(decision, "\"}\n")
}

func TestTheLastPatternThatMatchesAFileSaysWhoOwnsIt(t *testing.T) {
	w := newEnv(t, withOwners)
	work := w.clone(t, robToken)
	own(t, work, ".github/CODEOWNERS", "# Who owns what", "*  @ann", "/docs/  @Bob # in other letters", "*.go  @ada @bob", "/free/",
		"/team/  @acme/team dev@example.test", "/read/  @max", "/gone/  @nobody", "/own/  @rob", "/wrong/  @rob[bot]", "/ @eve", "/eve/  @eve @bob", `/with\ space/  @bob`)
	for n, tc := range []struct{ what, file, want string }{
		{"a file that only the star matches is its owner's", "a.txt", "ann"},
		{"a directory's is the directory's owner's", "docs/deep/a.txt", "bob"},
		{"a later line takes a file from an earlier one", "docs/a.go", "ada bob"},
		{"a line without owners takes ownership away", "free/a.txt", ""},
		{"teams and addresses own nothing", "team/a.txt", ""},
		{"who may only read owns nothing", "read/a.txt", ""},
		{"who has no account owns nothing", "gone/a.txt", ""},
		{"an App owns nothing by its name", "own/a.txt", ""},
		{"a line that is wrong does not count", "wrong/a.txt", "ann"},
		{"of two owners one may be nobody here", "eve/a.txt", "bob"},
		{"a space in a pattern is escaped", "with space/a.txt", "bob"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			branch := fmt.Sprint("topic-", n)
			pushAll(t, work, branch, tc.file)
			pr := openPull(t, w.client(t, robToken), branch, false)
			if got := requested(pr); got != tc.want {
				t.Errorf("requested is %q, want %q", got, tc.want)
			}
		})
	}
	t.Run("the owner of any file is requested, once", func(t *testing.T) {
		pushAll(t, work, "many", "b.txt", "c.txt", "docs/b.txt", "free/b.txt", "b.go")
		if got := requested(openPull(t, w.client(t, robToken), "many", false)); got != "ada ann bob" {
			t.Errorf("requested is %q", got)
		}
	})
	t.Run("the author is not requested", func(t *testing.T) {
		pushAll(t, work, "anns", "d.txt", "docs/d.txt")
		if got := requested(openPull(t, w.client(t, annToken), "anns", false)); got != "bob" {
			t.Errorf("requested is %q", got)
		}
	})
	t.Run("what the base alone has changed does not count", func(t *testing.T) {
		pushAll(t, work, "behind", "f.txt")
		gittest.Run(t, work, "checkout", "-q", "main")
		pushAll(t, work, "main", "docs/f.txt")
		if got := requested(openPull(t, w.client(t, robToken), "behind", false)); got != "ann" {
			t.Errorf("requested is %q", got)
		}
	})
	t.Run("the place that a file is renamed from counts, too", func(t *testing.T) {
		pushAll(t, work, "main", "docs/e.txt")
		gittest.Run(t, work, "checkout", "-q", "-b", "renamed")
		gittest.Run(t, work, "mv", "docs/e.txt", "e.txt")
		gittest.Run(t, work, "commit", "-q", "-m", "Rename")
		gittest.Run(t, work, "push", "-q", "origin", "renamed")
		if got := requested(openPull(t, w.client(t, robToken), "renamed", false)); got != "ann bob" {
			t.Errorf("requested is %q", got)
		}
	})
}

func TestTheFirstFileOfTheBaseCounts(t *testing.T) {
	w := newEnv(t, withOwners)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	for n, tc := range []struct{ file, login, want string }{
		{"README.md", "@ann", ""},
		{"docs/CODEOWNERS", "@ann", "ann"},
		{"CODEOWNERS", "@bob", "bob"},
		{".github/CODEOWNERS", "@ada", "ada"},
		{"docs/CODEOWNERS", "@bob", "ada"},
	} {
		own(t, work, tc.file, "* "+tc.login)
		branch := fmt.Sprint("topic-", n)
		pushAll(t, work, branch, branch+".txt")
		if got := requested(openPull(t, rob, branch, false)); got != tc.want {
			t.Errorf("with %s requested is %q, want %q", tc.file, got, tc.want)
		}
	}
	gittest.Run(t, work, "checkout", "-q", "main")
	gittest.Run(t, work, "checkout", "-q", "-b", "taken")
	StoreXPush(t, work, "taken", ".github/CODEOWNERS", "* @bob\n")
	if got := requested(openPull(t, rob, "taken", false)); got != "ada" {
		t.Errorf("of a change of the owners requested is %q, want the owner in the base", got)
	}
}

func TestADraftRequestsNobodyAndItsEndTheCodeOwners(t *testing.T) {
	w, hook := hooked(t, withOwners)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	own(t, work, "CODEOWNERS", "*.txt @ann", "*.md @bob")
	hook.want("the owners", "push")
	pushAll(t, work, "topic", "a.txt")
	hook.want("a branch", "push", "create")
	pr := openPull(t, rob, "topic", true)
	hook.want("a draft", "pull_request opened")
	pushAll(t, work, "topic", "b.txt")
	hook.want("a push to a draft", "push", "pull_request synchronize")
	if got := requested(w.pull(t, rob, 1)); got != "" {
		t.Errorf("of a draft requested is %q", got)
	}
	w.graphql(t, robToken, `mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { clientMutationId } }`, pr.GetNodeID())
	asked := hook.want("its end", "pull_request ready_for_review", "pull_request review_requested")[1]
	if who := asked.body["requested_reviewer"].(map[string]any)["login"]; who != "ann" || asked.body["sender"].(map[string]any)["login"] != "rob[bot]" {
		t.Errorf("it requests %v: %v", who, asked.body["sender"])
	}
	if got := requested(w.pull(t, rob, 1)); got != "ann" {
		t.Errorf("after its end requested is %q", got)
	}
	pushAll(t, work, "topic", "c.md")
	hook.want("a push", "push", "pull_request synchronize", "pull_request review_requested")
	if got := requested(w.pull(t, rob, 1)); got != "ann bob" {
		t.Errorf("after a push to another's file requested is %q", got)
	}
	review := w.review(t, annToken, 1, "APPROVE")
	hook.want("a review", "pull_request_review submitted")
	pushAll(t, work, "topic", "d.txt")
	hook.want("a push after it", "push", "pull_request synchronize")
	_, _, err := rob.PullRequests.DismissReview(t.Context(), owner, name, 1, review.GetID(), &github.PullRequestReviewDismissalRequest{Message: github.String("Old.")})
	must(t, err)
	hook.want("a dismissal", "pull_request_review dismissed")
	pushAll(t, work, "topic", "e.txt")
	hook.want("a push after that", "push", "pull_request synchronize", "pull_request review_requested")

	pushAll(t, work, "other", "f.txt")
	hook.want("another branch", "push", "create")
	openPull(t, rob, "other", false)
	hook.want("what is no draft", "pull_request opened", "pull_request review_requested")
}

func TestACodeOwnerIsRequestedAgainWhenAPushDismissesTheApproval(t *testing.T) {
	w := newEnv(t, withOwners)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	own(t, work, "CODEOWNERS", "* @ann")
	_, _, err := w.client(t, adaToken).Repositories.UpdateBranchProtection(t.Context(), owner, name, "main", &github.ProtectionRequest{
		RequiredPullRequestReviews: &github.PullRequestReviewsEnforcementRequest{RequiredApprovingReviewCount: 1, DismissStaleReviews: true},
	})
	must(t, err)
	pushAll(t, work, "topic", "a.txt")
	openPull(t, rob, "topic", false)
	w.review(t, annToken, 1, "APPROVE")
	if got := requested(w.pull(t, rob, 1)); got != "" {
		t.Errorf("after the approval requested is %q", got)
	}
	pushAll(t, work, "topic", "b.txt")
	if got := requested(w.pull(t, rob, 1)); got != "ann" {
		t.Errorf("after the push requested is %q", got)
	}
}

// demands are the ways of demanding the review of code owners, with so many approvals.
var demands = map[string]func(t *testing.T, w *env, approvals int){
	"by protection": func(t *testing.T, w *env, approvals int) {
		t.Helper()
		_, _, err := w.client(t, adaToken).Repositories.UpdateBranchProtection(t.Context(), owner, name, "main", &github.ProtectionRequest{
			RequiredPullRequestReviews: &github.PullRequestReviewsEnforcementRequest{RequiredApprovingReviewCount: approvals, RequireCodeOwnerReviews: true},
		})
		must(t, err)
	},
	"by a ruleset": func(t *testing.T, w *env, approvals int) {
		t.Helper()
		made, body := w.ask(t, "POST", "/repos/acme/widgets/rulesets", adaToken, fmt.Sprintf(`{"name":"main","target":"branch","enforcement":"active",
			"conditions":{"ref_name":{"include":["~DEFAULT_BRANCH"],"exclude":[]}},"rules":[{"type":"pull_request","parameters":{
			"required_approving_review_count":%d,"dismiss_stale_reviews_on_push":false,"require_code_owner_review":true,
			"require_last_push_approval":false,"required_review_thread_resolution":false}}]}`, approvals))
		if made.StatusCode != http.StatusCreated {
			t.Fatalf("%d %s", made.StatusCode, body)
		}
	},
}

// awaits holds a pull request to its decision, and to the refusal of its merge.
func (e *env) awaits(t *testing.T, number int, decision, refused string) {
	t.Helper()
	rob := e.client(t, robToken)
	if got := e.decision(t, number); got != decision {
		t.Errorf("decided is %s, want %s", got, decision)
	}
	if got := e.pull(t, rob, number).GetMergeableState(); got != "blocked" {
		t.Errorf("it is %s, not blocked", got)
	}
	_, _, err := rob.PullRequests.Merge(t.Context(), owner, name, number, "", nil)
	if status, message := refusal(t, err); status != http.StatusMethodNotAllowed || message != refused {
		t.Errorf("the merge: %d %q, want %q", status, message, refused)
	}
}

// merges holds a pull request to its decision, and merges it.
func (e *env) merges(t *testing.T, number int, decision string) {
	t.Helper()
	rob := e.client(t, robToken)
	if got := e.decision(t, number); got != decision {
		t.Errorf("decided is %s, want %s", got, decision)
	}
	if got := e.pull(t, rob, number).GetMergeableState(); got != "clean" {
		t.Errorf("it is %s, not clean", got)
	}
	_, _, err := rob.PullRequests.Merge(t.Context(), owner, name, number, "", nil)
	must(t, err)
}

func TestACodeOwnerHasToApproveWhereTheBaseDemandsIt(t *testing.T) {
	const waiting = "Waiting on code owner review from ann."
	for how, demand := range demands {
		t.Run(how, func(t *testing.T) {
			w := newEnv(t, withOwners)
			work := w.clone(t, robToken)
			own(t, work, "CODEOWNERS", "* @ann")
			demand(t, w, 1)
			pushAll(t, work, "topic", "a.txt")
			openPull(t, w.client(t, robToken), "topic", false)
			w.awaits(t, 1, "REVIEW_REQUIRED", waiting)
			w.review(t, bobToken, 1, "APPROVE")
			w.awaits(t, 1, "REVIEW_REQUIRED", waiting)
			w.review(t, annToken, 1, "COMMENT")
			w.awaits(t, 1, "REVIEW_REQUIRED", waiting)
			w.review(t, annToken, 1, "APPROVE")
			w.review(t, annToken, 1, "REQUEST_CHANGES")
			w.awaits(t, 1, "CHANGES_REQUESTED", "Changes have been requested by reviewers with write access.")
			w.review(t, annToken, 1, "APPROVE")
			w.merges(t, 1, "APPROVED")
		})
	}
}

func TestWhoOwnsNothingThatIsChangedIsNotWaitedFor(t *testing.T) {
	w := newEnv(t, withOwners)
	work := w.clone(t, robToken)
	own(t, work, "CODEOWNERS", "/ann/ @ann", "/read/ @max", "/both/ @ann @bob", "/three/ @ada @ann @bob")
	demands["by a ruleset"](t, w, 0)
	for n, tc := range []struct {
		what, author string
		files        []string
		waits        string   // "" if it merges at once
		approve      []string // who has to
	}{
		{"a file without owners demands nothing", robToken, []string{"a.txt"}, "", nil},
		{"the author is not waited for", annToken, []string{"ann/a.txt"}, "", nil},
		{"who may only read is not waited for", robToken, []string{"read/a.txt"}, "", nil},
		{"the owner of one file of several is", robToken, []string{"b.txt", "ann/b.txt", "read/b.txt"}, "ann", []string{annToken}},
		{"one of two owners is enough", robToken, []string{"both/a.txt"}, "ann and/or bob", []string{bobToken}},
		{"of two owners the author leaves one", annToken, []string{"both/b.txt"}, "bob", []string{bobToken}},
		{"one of three owners is enough", robToken, []string{"three/a.txt"}, "ada, ann, and/or bob", []string{annToken}},
		{"each of two files waits for an owner", robToken, []string{"ann/c.txt", "both/c.txt"}, "ann and/or bob", []string{bobToken, annToken}},
		{"who owns two files is enough for both", robToken, []string{"ann/d.txt", "both/d.txt"}, "ann and/or bob", []string{annToken}},
	} {
		t.Run(tc.what, func(t *testing.T) {
			branch, number := fmt.Sprint("topic-", n), n+1
			pushAll(t, work, branch, tc.files...)
			openPull(t, w.client(t, tc.author), branch, false)
			for at, token := range tc.approve {
				waits := tc.waits
				if at > 0 {
					waits = "ann" // the other one has approved
				}
				w.awaits(t, number, "REVIEW_REQUIRED", "Waiting on code owner review from "+waits+".")
				w.review(t, token, number, "APPROVE")
			}
			w.merges(t, number, "APPROVED")
		})
	}
}

func TestNoReviewOfCodeOwnersIsWaitedForWhereNoneIsDemanded(t *testing.T) {
	w := newEnv(t, withOwners)
	work := w.clone(t, robToken)
	own(t, work, "CODEOWNERS", "* @ann")
	pushAll(t, work, "topic", "a.txt")
	openPull(t, w.client(t, robToken), "topic", false)
	w.merges(t, 1, "null")
}
