package change

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// The actions after which an issue may be gone.
const (
	deleted     = "deleted"
	transferred = "transferred"
)

// issue reads what happened to an issue.
func issue(e *github.IssuesEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	if e.GetIssue().GetNumber() <= 0 {
		return "an issue"
	}
	c.Items = []Item{{Number: e.GetIssue().GetNumber(), Pull: e.GetIssue().IsPullRequest(), Gone: c.Action == deleted || c.Action == transferred}}
	return ""
}

// Labelled is an open issue that may have, or have had, the label that holds work on it.
type Labelled struct {
	Issue forge.Issue
	In    *pb.Instance
	Label string // that holds work; "" if there is none
}

// lockedText is in what a forge says when it refuses a comment because the conversation
// is locked.
const lockedText = "issue is locked"

// Commands implements Seen. It pauses the instance of an issue that has the label, and resumes it
// when that is taken off. It resumes one that was paused because nothing can be said on a locked
// issue, once it is unlocked. Instances that people paused stay paused.
func (l Labelled) Commands() []Command {
	name, why, reason := l.In.GetInstance(), l.In.GetReason(), "the issue has the label "+l.Label
	silenced := strings.Contains(why, fmt.Sprintf("%s#%d:", l.Issue.Repo, l.Issue.Number)) && strings.Contains(why, lockedText)
	switch {
	case l.In.GetClosed() != "":
	case HasLabel(l.Issue, l.Label):
		if !l.In.GetPaused() {
			return []Command{pause(name, "", reason)}
		}
	case l.In.GetPaused() && l.Label != "" && why == reason:
		return []Command{resume(name, "the label "+l.Label+" was taken off")}
	case l.In.GetPaused() && silenced && !l.Issue.Locked:
		return []Command{resume(name, "the conversation is no longer locked")}
	}
	return nil
}

// HasLabel reports whether the issue has the label. Forges ignore the case of its name.
func HasLabel(issue forge.Issue, label string) bool {
	return label != "" && slices.ContainsFunc(issue.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}

// Edited is an issue with its present title and text, as words of the author.
type Edited struct {
	Issue      forge.Issue
	In         *pb.Instance
	Permission string // the least of the author, who edited the text, and who gave the title
	Counts     bool
}

// IsNew reports whether the instance knows the issue with another text.
func (e Edited) IsNew() bool {
	_, times := e.known()
	return times >= 0
}

// known returns how often the instance got another text, -1 if it knows the present one, or is
// closed or another issue's.
func (e Edited) known() (text string, times int) {
	text = textOf(e.Issue.Title, e.Issue.Body)
	known := textOf(e.In.GetIssue().GetTitle(), e.In.GetIssue().GetBody())
	for _, n := range e.In.GetNotes() {
		if strings.HasPrefix(n.GetText(), rules.NowReads) {
			known = n.GetText()
			times++
		}
	}
	own := e.In.GetIssue().GetRepo() == e.Issue.Repo && int(e.In.GetIssue().GetNumber()) == e.Issue.Number
	if !own || text == known || e.In.GetClosed() != "" {
		return text, -1
	}
	return text, times
}

// Commands implements Seen. Where people are asked the text is an answer.
func (e Edited) Commands() []Command {
	text, times := e.known()
	if times < 0 {
		return nil
	}
	kind := rules.Edited
	if _, held := WaitingSince(e.In); !e.Counts {
		kind = instance.Remarked
	} else if e.In.GetKind() == string(workflow.Wait) && !held && len(OpenQuestions(e.In)) > 0 {
		kind = "commented"
	}
	return []Command{signal(e.In.GetInstance(), kind, "edited/"+e.Issue.NodeID+"/"+digest(16, "%d\x00%s", times, text), e.Issue.Author.Login,
		map[string]string{"body": text, "url": e.Issue.URL, "permission": e.Permission})}
}

// textOf returns the issue's text for an instance, without our markers.
func textOf(title, body string) string {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	if id, key, ok := rules.FindMarker(body); ok {
		body = strings.Replace(body, rules.Marker(id, key), "", 1)
	}
	return rules.NowReads + strings.TrimSpace(strings.TrimSpace(title)+"\n\n"+strings.TrimSpace(body))
}

// Reopened is an issue that is open now and was closed before. The command's id has the time of
// the closing.
type Reopened struct {
	Issue    forge.Issue
	Instance string
	Closed   time.Time
}

// Commands implements Seen.
func (r Reopened) Commands() []Command {
	return []Command{reopen(r.Instance, fmt.Sprintf("reopen/%s/%s", r.Issue.NodeID, r.Closed.UTC().Format(time.RFC3339)),
		fmt.Sprintf("issue #%d was opened again on the forge", r.Issue.Number))}
}

// Closed is an issue that was closed, or that there is no more, and an instance that may be its.
type Closed struct {
	Repo   string
	Number int
	Why    string
	In     *pb.Instance
}

// Commands implements Seen.
func (c Closed) Commands() []Command {
	if c.In.GetClosed() != "" || c.In.GetIssue().GetRepo() != c.Repo || int(c.In.GetIssue().GetNumber()) != c.Number {
		return nil
	}
	return []Command{cancel(c.In.GetInstance(), c.Why)}
}

// Blocked is an open issue with the open issues that it waits for.
type Blocked struct {
	Issue forge.Issue
	In    *pb.Instance
	By    []string
}

// Waits reports whether the instance is paused for issues.
func (b Blocked) Waits() bool {
	return b.In.GetPaused() && strings.HasPrefix(b.In.GetReason(), instance.ForIssues)
}

// Commands implements Seen. It pauses for the same issues once: work that a person resumes goes on.
func (b Blocked) Commands() []Command {
	name := b.In.GetInstance()
	switch {
	case len(b.By) == 0 && b.Waits():
		return []Command{resume(name, strings.TrimPrefix(b.In.GetReason(), instance.ForIssues)+" no longer: closed, or not named any more")}
	case len(b.By) > 0 && !b.In.GetPaused():
		return []Command{pause(name, "blocked/"+b.Issue.NodeID+"/"+digest(8, "%s", strings.Join(b.By, "\x00")), instance.ForIssues+strings.Join(b.By, ", "))}
	}
	return nil
}
