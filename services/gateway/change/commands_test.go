package change

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// texts are commands as a table has them: "INSTANCE NAME: REASON", of a signal "INSTANCE SIGNAL: BODY".
func texts(seen Seen) string {
	var all []string
	for _, c := range seen.Commands() {
		text := c.GetPause().GetReason() + c.GetResume().GetReason() + c.GetCancel().GetReason() + c.GetReopen().GetReason()
		name := c.Name
		if s := c.GetSignal(); s != nil {
			name, text = s.GetName(), s.GetData()["body"]
		}
		all = append(all, fmt.Sprintf("%s %s: %s", c.GetInstance(), name, text))
	}
	return strings.Join(all, "; ")
}

var at = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

// in is an instance of issue 1.
func in(change ...func(*pb.Instance)) *pb.Instance {
	i := &pb.Instance{Instance: "a/b/1", Issue: &pb.Issue{Repo: "a/b", Number: 1, Title: "Sum", Body: "It is 4."}}
	for _, f := range change {
		f(i)
	}
	return i
}

func paused(reason string) func(*pb.Instance) {
	return func(i *pb.Instance) { i.Paused, i.Reason = true, reason }
}

func ended(i *pb.Instance) { i.Closed = string(instance.Ended) }

func asks(i *pb.Instance) {
	i.Kind, i.Questions = string(workflow.Wait), []*pb.Question{{Number: 1}}
}

func escalated(i *pb.Instance) {
	i.Escalations = []*pb.Escalation{{RequiresHuman: true, At: timestamppb.New(at)}}
}

func failed(i *pb.Instance) {
	i.Failed, i.Vars = true, map[string]string{"prNumber": "3", "outcome": "closed"}
}

func TestWhatFollowsFromAChange(t *testing.T) {
	const hold = "signalbox:hold"
	is := forge.Issue{Repo: "a/b", Number: 1, NodeID: "I_1", Title: "Sum", Body: "It is 4.", Author: forge.User{Login: "ann"}}
	held, locked, edited := is, is, is
	held.Labels, locked.Locked, edited.Body = []string{"Signalbox:Hold"}, true, "It is 5."
	now := "The issue was edited. It now reads:\n\nSum\n\nIt is 5."
	fault := paused("the last: comment on a/b#1: 403 issue is locked.")
	byLabel := paused("the issue has the label " + hold)
	knows := func(i *pb.Instance) { i.Notes = []*pb.Remark{{Text: now}} }
	words := Comment{Comment: forge.Comment{ID: 7, Body: "Yes.", Author: forge.User{Login: "ann"}}, Instance: "a/b/1", Own: true, Permission: "write", Counts: true}
	comment := func(change func(*Comment)) Comment { c := words; change(&c); return c }
	closed := Closed{Repo: "a/b", Number: 1, Why: "it was closed"}
	for name, c := range map[string]struct {
		seen Seen
		want string
	}{
		"the label pauses":                      {Labelled{held, in(), hold}, "a/b/1 pause: the issue has the label " + hold},
		"once":                                  {Labelled{held, in(paused("by a person")), hold}, ""},
		"not what has ended":                    {Labelled{held, in(ended), hold}, ""},
		"without the label it goes on":          {Labelled{is, in(byLabel), hold}, "a/b/1 resume: the label " + hold + " was taken off"},
		"unless a person paused it":             {Labelled{is, in(paused("by a person")), hold}, ""},
		"an unlocked issue goes on":             {Labelled{is, in(fault), ""}, "a/b/1 resume: the conversation is no longer locked"},
		"a locked one does not":                 {Labelled{locked, in(fault), ""}, ""},
		"an edit is signalled":                  {Edited{edited, in(), "write", true}, "a/b/1 edited: " + now},
		"the same text is not":                  {Edited{is, in(), "write", true}, ""},
		"nor one that is known":                 {Edited{edited, in(knows), "write", true}, ""},
		"nor one of what has ended":             {Edited{edited, in(ended), "write", true}, ""},
		"nor one of another repository":         {Edited{edited, in(func(i *pb.Instance) { i.Issue.Repo = "a/c" }), "write", true}, ""},
		"an edit that does not count":           {Edited{edited, in(), "read", false}, "a/b/1 remarked: " + now},
		"an edit answers questions":             {Edited{edited, in(asks), "write", true}, "a/b/1 commented: " + now},
		"not while people are asked to resolve": {Edited{edited, in(asks, escalated), "write", true}, "a/b/1 edited: " + now},
		"an issue that is open again":           {Reopened{is, "a/b/1", at}, "a/b/1 reopen: issue #1 was opened again on the forge"},
		"a closed one":                          {Closed{closed.Repo, 1, closed.Why, in()}, "a/b/1 cancel: it was closed"},
		"what has ended":                        {Closed{closed.Repo, 1, closed.Why, in(ended)}, ""},
		"what was never taken up":               {Closed{closed.Repo, 1, closed.Why, nil}, ""},
		"another issue":                         {Closed{closed.Repo, 2, closed.Why, in()}, ""},
		"a blocked one waits":                   {Blocked{is, in(), []string{"#2", "#3"}}, "a/b/1 pause: " + instance.ForIssues + "#2, #3"},
		"and goes on":                           {Blocked{is, in(paused(instance.ForIssues + "#2")), nil}, "a/b/1 resume: #2 no longer: closed, or not named any more"},
		"not what a person paused":              {Blocked{is, in(paused("by a person")), nil}, ""},
		"a comment":                             {words, "a/b/1 commented: Yes."},
		"one that does not count":               {comment(func(c *Comment) { c.Counts = false }), "a/b/1 remarked: Yes."},
		"a remark":                              {comment(func(c *Comment) { c.Remark = true }), "a/b/1 commented: Yes."},
		"a remark while people are waited for":  {comment(func(c *Comment) { c.Remark, c.Waits = true, true }), "a/b/1 remarked: Yes."},
		"a comment for another instance":        {comment(func(c *Comment) { c.Own, c.Instance = false, "story" }), "story commented: Yes."},
		"which gets no remark":                  {comment(func(c *Comment) { c.Own, c.Remark = false, true }), ""},
		"nor what does not count":               {comment(func(c *Comment) { c.Own, c.Counts = false, false }), ""},
		"a pull request":                        {Pull{"a/b", forge.PullRequest{Number: 3}, "story"}, "story changed: "},
		"a fact":                                {Known{Fact{Event: "push", ID: "x"}, "a/b", 3, "", "story"}, "story changed: "},
		"a pull request that is open again":     {PullReopened{"a/b", 3, in(failed)}, "a/b/1 reopen: pull request #3 was opened again on the forge"},
		"another pull request":                  {PullReopened{"a/b", 4, in(failed)}, ""},
		"work that ended otherwise":             {PullReopened{"a/b", 3, in()}, ""},
	} {
		if got := texts(c.seen); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The ids are in logs: a gateway that is newer sends nothing again.
func TestTheIdOfACommandFollowsFromTheChange(t *testing.T) {
	is := forge.Issue{Repo: "a/b", Number: 1, NodeID: "I_1", Title: "Sum", Body: "It is 5."}
	words := Comment{Comment: forge.Comment{ID: 7}, Instance: "story", Counts: true}
	own := words
	own.Own = true
	for want, seen := range map[string]Seen{
		"comment/7":                       own,
		"comment/7/c478361e6869af25":      words,
		"reopen/I_1/2026-01-02T09:00:00Z": Reopened{is, "a/b/1", at},
		"edited/I_1/":                     Edited{is, in(), "write", true},
		"blocked/I_1/":                    Blocked{is, in(), []string{"#2"}},
		"pull/":                           Pull{"a/b", forge.PullRequest{Number: 3, UpdatedAt: at}, "story"},
		"reopen/pull/":                    PullReopened{"a/b", 3, in(failed)},
	} {
		first, again := seen.Commands(), seen.Commands()
		if len(first) != 1 || !strings.HasPrefix(first[0].GetId(), want) || first[0].GetId() != again[0].GetId() {
			t.Errorf("%q, want %q", first[0].GetId(), want)
		}
	}
}
