package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
)

// heardLast returns the data of the newest signal of a name.
func (e *env) heardLast(id, name string) (data map[string]string) {
	e.Helper()
	records, err := e.client.History(e.ctx, id, 0)
	if err != nil {
		e.Fatal(err)
	}
	for _, r := range records {
		for _, ev := range r.GetCommit().GetEvents() {
			if s := ev.GetSignalled(); s.GetName() == name {
				data = s.GetData()
			}
		}
	}
	return data
}

// newStory is a gateway that watches the pull request of a story.
func newStory(t *testing.T) (e *env, o *commander, pr forge.PullRequest, story string) {
	t.Helper()
	e = newEnv(t)
	p := e.poller(strict)
	o = e.commander(p)
	number, story := e.propose("first")
	e.poll(p)
	e.obey(o)
	pr, err := e.ann.PullRequest(e.ctx, widgets, number)
	if err != nil {
		t.Fatal(err)
	}
	return e, o, pr, story
}

// commands gives a command on a pull request. It returns the new answers.
func (e *env) commands(o *commander, number int, body string) []string {
	e.Helper()
	before := len(e.answers(number))
	e.second.Add(1)
	e.say(e.ann, number, body)
	e.obey(o)
	return e.answers(number)[before:]
}

func TestAMergeIsAskedForAtTheCommitThatIsSeen(t *testing.T) {
	e, o, pr, story := newStory(t)
	number := pr.Number
	if got := e.commands(o, number, "/signalbox merge"); len(got) != 0 {
		t.Errorf("it answered %q", got)
	}
	if got := e.heardLast(story, "merge_requested"); got["merge_at"] != pr.HeadSHA || got["permission"] != "write" {
		t.Errorf("the story was told %v", got)
	}
	in, err := e.client.Get(e.ctx, story)
	if err != nil || in.GetVars()["merge_at"] != pr.HeadSHA {
		t.Errorf("the story has %v, %v", in.GetVars(), err)
	}
	if err := e.ann.CloseIssue(e.ctx, widgets, number); err != nil {
		t.Fatal(err)
	}
	if got := e.commands(o, number, "/signalbox merge"); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf("#%d is closed", number)) {
		t.Errorf("it answered %q", got)
	}
}

func TestABaseIsBroughtInOnlyIfThereIsMoreOfIt(t *testing.T) {
	e, o, pr, story := newStory(t)
	number := pr.Number
	if got := e.commands(o, number, "/signalbox rebase"); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf("%.7s has all of %s", pr.HeadSHA, pr.BaseRef)) {
		t.Errorf("it answered %q", got)
	}
	e.pushes(pr.BaseRef)
	if got := e.commands(o, number, "/signalbox rebase"); len(got) != 0 || e.heardLast(story, "rebase_requested")["rebase_at"] != pr.HeadSHA {
		t.Errorf("it answered %q; the story was told %v", got, e.heardLast(story, "rebase_requested"))
	}
}

func TestThePlanSaysWhatWasDoneAndWhatHasToHold(t *testing.T) {
	e, o, pr, story := newStory(t)
	number := pr.Number
	got := e.commands(o, number, "/signalbox plan")
	if len(got) != 1 || !strings.Contains(got[0], "Nothing was done yet.") || !strings.Contains(got[0], "- before `merged`: `read_back`") {
		t.Errorf("it answered %q", got)
	}
	e.finds(story, "waiting")
	got = e.commands(o, number, "/signalbox plan\n\nThanks.")
	if len(got) != 1 || !strings.Contains(got[0], "- `shepherd` in `pushed`") {
		t.Errorf("it answered %q", got)
	}
}
