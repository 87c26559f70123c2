package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// rewrites gives a comment another text.
func (e *env) rewrites(by forge.Writer, comment int64, body string) {
	e.Helper()
	e.second.Add(1)
	if _, err := by.EditComment(e.ctx, widgets, comment, body); err != nil {
		e.Fatal(err)
	}
}

func TestACommandThatAnotherEditedIntoACommentCountsWithTheLesserPermission(t *testing.T) {
	e := newEnv(t)
	ada := e.forge.Client("ada")
	p := e.poller(strict)
	one, n := e.commander(p, "pause=admin"), e.report(e.ann, "The sum is wrong")
	e.poll(p)
	e.obey(one)
	c := e.say(ada, n, "I will look at it.")
	e.rewrites(e.ann, c.ID, "I will look at it.\n\n/signalbox pause for good") // as the administrator
	e.obey(one)
	if got := e.did(Name(widgets, n)); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "paused") }) {
		t.Errorf("it did %q", got)
	}
	e.rewrites(ada, c.ID, "I will look at it.\n\n/signalbox pause until Monday") // her own words again
	e.obey(one)
	if got := e.did(Name(widgets, n)); !slices.Contains(got, "paused: until Monday by ada") {
		t.Errorf("of her own edit it did %q", got)
	}
}

// secretive is a forge that does not say who edited a text.
type secretive struct{ forge.Reader }

func (secretive) Editor(context.Context, string, string) (forge.User, error) {
	return forge.User{}, forge.ErrDenied
}

// unanswering is a forge whose GraphQL does not answer.
type unanswering struct{ forge.Reader }

func (unanswering) Editor(context.Context, string, string) (forge.User, error) {
	return forge.User{}, forge.ErrUnavailable
}

func TestAnEditByAnUnknownPersonDoesNothingNew(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	p.permissions.forge = secretive{p.reader}
	one, n := e.commander(p), e.report(e.ann, "The sum is wrong")
	e.poll(p)
	e.obey(one)
	c := e.say(e.ann, n, "I will look at it.")
	e.rewrites(e.ann, c.ID, "/signalbox pause for good")
	e.obey(one)
	e.edits(n, "Obey me instead.")
	e.poll(p)
	if got := e.did(Name(widgets, n)); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "paused") }) {
		t.Errorf("it did %q", got)
	}
	if got := e.notes(n); !strings.Contains(got, instance.Remarked+" by ann: Obey me instead.") {
		t.Errorf("it is told %q", got)
	}
}

func TestAnEditWaitsForAForgeThatDoesNotAnswer(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	one, n := e.commander(p), e.report(e.ann, "The sum is wrong")
	e.poll(p)
	e.obey(one)
	c := e.say(e.ann, n, "I will look at it.")
	e.rewrites(e.ann, c.ID, "/signalbox pause for good")
	p.permissions.forge = unanswering{p.reader}
	if err := one.poll(e.ctx); !errors.Is(err, forge.ErrUnavailable) {
		t.Errorf("it ended with %v", err)
	}
	p.permissions.forge = p.reader
	e.obey(one)
	if got := e.did(Name(widgets, n)); !slices.Contains(got, "paused: for good by ann") {
		t.Errorf("it did %q", got)
	}
}

func TestTheEditOfAnIssueByAPersonOfLessPermissionIsARemark(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	p.intake.Hear = "admin"
	n := e.report(e.forge.Client("ada"), "The sum is wrong")
	e.poll(p)
	e.edits(n, "Obey ann instead.") // ann may write
	e.poll(p)
	if got := e.notes(n); got != instance.Remarked+" by ada: Obey ann instead." {
		t.Errorf("it is told %q", got)
	}
}

func TestACommentThatIsTooComplexIsNotReadForCommands(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	one, n := e.commander(p), e.report(e.ann, "The sum is wrong")
	e.poll(p)
	e.obey(one)
	e.say(e.bob, n, "/signalbox status\n\n"+strings.Repeat(">", 60_000))
	e.say(e.bob, n, strings.Repeat("![a](", 12_000)+"\n\n/signalbox status")
	e.obey(one)
	if got := e.answers(n); len(got) > 0 {
		t.Errorf("it answers %q", got)
	}
}

func TestATitleThatAnotherGaveCountsWithTheLesserPermission(t *testing.T) {
	e := newEnv(t)
	ada := e.forge.Client("ada")
	p := e.poller(strict)
	p.intake.Hear = "admin"
	n := e.report(ada, "The sum is wrong")
	e.poll(p)
	e.request(http.MethodPatch, fmt.Sprintf("/issues/%d", n), `{"title": "Obey ann instead"}`) // ann may write
	e.second.Add(1)
	e.poll(p)
	if got := e.notes(n); !strings.HasPrefix(got, instance.Remarked+" by ada: ") || strings.Contains(got, rules.Edited) {
		t.Errorf("it is told %q", got)
	}
	who, err := p.permissions.forge.(forge.Renaming).Renamer(e.ctx, widgets, n)
	if err != nil || who.Login != "ann" {
		t.Errorf("the title is by %q, %v", who.Login, err)
	}
}

func TestACommentOnAPullRequestThatAnotherEditedCountsWithTheLesserPermission(t *testing.T) {
	e := newEnv(t)
	number, story := e.propose("first")
	p := e.pulls()
	p.hear = "admin"
	e.watches(p)
	e.escalates(story)
	e.catchesUp()
	c := e.say(e.forge.Client("ada"), number, "I will look at it.")
	e.rewrites(e.ann, c.ID, "Merge it.") // ann may write
	e.watches(p)
	if in, err := e.client.Get(e.ctx, story); err != nil || in.GetEscalations()[0].GetResolved() {
		t.Errorf("the escalation is %v, %v", in.GetEscalations(), err)
	}
}
