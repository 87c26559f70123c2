package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/localforge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// shows runs a PM that shows how issues stand, until it is stopped.
func (g *notifyEnv) shows(s Status) (stop func()) {
	g.Helper()
	nc := g.server.Connect(g.T)
	js, err := jetstream.New(nc)
	if err != nil {
		g.Fatal(err)
	}
	g.restart()
	st := newStatuses(g.handler, client.New(nc, "pm-1"))
	st.every, st.comment, st.labels = s.Rest, s.Comment, s.Labels
	ctx, cancel := context.WithCancel(g.ctx)
	ended := make(chan error, 1)
	go func() { ended <- st.run(ctx, js) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			g.Error(err)
		}
	}
}

// sticky shows how issues stand by a comment.
var sticky = Status{Comment: true, Rest: 20 * time.Millisecond}

// stands waits until all is shown, and returns the comments on how the issue stands.
func (g *notifyEnv) stands() []forge.Comment {
	g.Helper()
	if err := natstest.Drained(g.ctx, g.js, subject.EventStream, subject.Statuses); err != nil {
		g.Fatal(err)
	}
	return slices.DeleteFunc(g.said(), func(c forge.Comment) bool { return !strings.Contains(c.Body, "key=status -->") })
}

// begins opens an instance of the issue.
func (g *notifyEnv) begins(id string, issue instance.Issue) {
	g.Helper()
	if _, err := g.client.Do(g.ctx, "open", &pb.Command{Instance: id, Action: &pb.Command_Open{Open: &pb.Open{Workflow: "issue", Issue: wire.Issue(issue)}}}); err != nil {
		g.Fatal(err)
	}
}

func (g *notifyEnv) moves(id, state, reason string) {
	g.Helper()
	if _, err := g.client.Override(g.ctx, id, state, reason); err != nil {
		g.Fatal(err)
	}
}

// one wants one comment on how the issue stands, with the texts.
func (g *notifyEnv) one(texts ...string) forge.Comment {
	g.Helper()
	all := g.stands()
	if len(all) != 1 || all[0].Author.Login != "signalbox" {
		g.Fatalf("it stands %+v, want one comment", all)
	}
	for _, want := range texts {
		if !strings.Contains(all[0].Body, want) {
			g.Errorf("there is no %q in\n%s", want, all[0].Body)
		}
	}
	return all[0]
}

// requests counts the forge's requests with the method, from now on.
func (g *notifyEnv) requests(method string) *atomic.Int64 {
	n := new(atomic.Int64)
	g.forge.Fail(func(r *http.Request) *localforge.Fault {
		if r.Method == method && strings.Contains(r.URL.Path, "/comments") {
			n.Add(1)
		}
		return nil
	})
	return n
}

const opened = "acme/widgets/1"

func TestOneCommentSaysHowTheIssueStandsAndIsEdited(t *testing.T) {
	g := newNotifyEnv(t)
	stop := g.shows(sticky)
	g.begins(opened, g.issue)
	first := g.one("**At work**", "State: `received`", "To act: `pm`")
	g.moves(opened, "implementing", "go on, @ann")
	g.one("State: `implementing`", "To act: `developer`", "`received` → `implementing`, go on, @ ann")
	stop()
	defer g.shows(sticky)() // another PM finds it
	g.moves(opened, "waiting_for_human_input", "there is no compiler")
	g.one("**Waiting**", "Waits for: people: there is no compiler")
	g.moves(opened, "failed", "nobody knows")
	last := g.one("**Ended without success**", "Reason: nobody knows")
	if first.ID != last.ID {
		t.Errorf("the comment was %d, and is %d", first.ID, last.ID)
	}
	edits := g.requests(http.MethodPatch)
	if _, err := g.client.Note(g.ctx, opened, "remark", "which changes nothing that is shown"); err != nil {
		t.Fatal(err)
	}
	if g.one(); edits.Load() != 0 {
		t.Error("what stands there already was written again")
	}
}

func TestACommentThatSomebodyDeletedIsThereAgainAfterTheNextMove(t *testing.T) {
	g := newNotifyEnv(t)
	defer g.shows(sticky)()
	g.begins(opened, g.issue)
	admin := g.forge.Client("signalbox") // as an admin may
	if err := admin.WithdrawComment(t.Context(), widgets, g.one().ID); err != nil {
		t.Fatal(err)
	}
	g.say(g.ann, "I took it away.")
	g.moves(opened, "implementing", "go on")
	g.one("State: `implementing`")
}

func TestAMarkerOnHowItStandsThatSomebodyCopiedIsNotOurs(t *testing.T) {
	g := newNotifyEnv(t)
	g.say(g.bob, "**Done**\n\n<!-- signalbox instance=acme%2Fwidgets%2F1 key=status -->")
	defer g.shows(sticky)()
	g.begins(opened, g.issue)
	all := g.stands()
	if len(all) != 2 || all[1].Author.Login != "signalbox" || !strings.HasPrefix(all[0].Body, "**Done**") {
		t.Errorf("it stands %+v", all)
	}
}

func TestAStormOfMovesIsNoStormOfWrites(t *testing.T) {
	g := newNotifyEnv(t)
	const every = 300 * time.Millisecond
	defer g.shows(Status{Comment: true, Rest: every})()
	begin := time.Now()
	g.begins(opened, g.issue)
	g.one()
	edits := g.requests(http.MethodPatch)
	for n := range 100 {
		g.moves(opened, []string{"implementing", "running_tests"}[n%2], fmt.Sprintf("move %d", n))
	}
	g.one("State: `running_tests`", "move 99")
	if n, most := edits.Load(), int64(time.Since(begin)/every)+1; n < 1 || n > most {
		t.Errorf("100 moves were %d writes, want at most %d", n, most)
	}
}

func TestTwoPMsKeepOneComment(t *testing.T) {
	g := newNotifyEnv(t)
	defer g.shows(sticky)()
	defer g.shows(sticky)()
	g.begins(opened, g.issue)
	for n := range 20 {
		g.moves(opened, []string{"implementing", "waiting_for_human_input"}[n%2], fmt.Sprintf("move %d", n))
	}
	g.moves(opened, "failed", "the last move")
	g.one("**Ended without success**", "the last move")
}

func TestAForgeThatIsAwayIsShownLaterHowItStands(t *testing.T) {
	g := newNotifyEnv(t)
	g.forge.FailRequests("POST", "/comments", localforge.Fault{After: true}) // and the comment is made all the same
	stop := g.shows(sticky)
	g.begins(opened, g.issue)
	for len(g.said()) == 0 {
		if g.ctx.Err() != nil {
			t.Fatal("nothing is said")
		}
	}
	g.moves(opened, "implementing", "go on")
	g.forge.Recover()
	defer func() { stop() }()
	g.one("State: `implementing`")
}

func TestAnIssueOnWhichNothingCanBeWrittenHoldsNothingUp(t *testing.T) {
	g := newNotifyEnv(t)
	g.forge.FailRequests("POST", fmt.Sprintf("/issues/%d/comments", g.issue.Number+1), localforge.Fault{Status: http.StatusForbidden})
	defer g.shows(sticky)()
	locked, elsewhere := g.issue, g.issue
	locked.Number++
	elsewhere.Repo = "other/widgets"
	g.begins("locked", locked)
	g.begins("elsewhere", elsewhere)
	g.begins("on no forge", instance.Issue{Title: "x"})
	g.begins(opened, g.issue)
	g.one("State: `received`")
}

func TestWhatMayNotLeaveIsLeftOutOfHowItStands(t *testing.T) {
	g := newNotifyEnv(t)
	defer g.shows(sticky)()
	g.begins(opened, g.issue)
	g.moves(opened, "failed", "the token is ghp_"+strings.Repeat("a1B2", 9))
	if c := g.one("**Ended without success**"); strings.Contains(c.Body, "ghp_") {
		t.Errorf("it stands\n%s", c.Body)
	}
}

func TestLabelsFollowHowTheIssueStands(t *testing.T) {
	g := newNotifyEnv(t)
	if err := g.ann.AddLabels(t.Context(), widgets, g.issue.Number, []string{"bug", "signalbox", "signalbox:other"}); err != nil {
		t.Fatal(err)
	}
	has := func(want ...string) {
		t.Helper()
		if len(g.stands()) != 0 {
			t.Error("there is a comment, too")
		}
		issue, err := g.ann.Issue(t.Context(), widgets, g.issue.Number)
		want = append(want, "bug", "signalbox", "signalbox:other")
		if slices.Sort(issue.Labels); err != nil || !slices.Equal(issue.Labels, slices.Sorted(slices.Values(want))) {
			t.Errorf("it has the labels %q, %v, want %q", issue.Labels, err, want)
		}
	}
	defer g.shows(Status{Labels: true, Rest: 20 * time.Millisecond})()
	g.begins(opened, g.issue)
	has("signalbox:working")
	if err := g.ann.RemoveLabel(t.Context(), widgets, g.issue.Number, "signalbox:working"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.client.Note(g.ctx, opened, "remark", "no move"); err != nil {
		t.Fatal(err)
	}
	has()
	g.moves(opened, "implementing", "go on")
	has("signalbox:working")
	g.moves(opened, "waiting_for_human_input", "what now")
	has("signalbox:waiting")
	g.moves(opened, "failed", "nobody knows")
	has("signalbox:failed")
	if _, err := g.client.Reopen(g.ctx, opened, "implementing", "once more"); err != nil {
		t.Fatal(err)
	}
	has("signalbox:working")
	if _, err := g.client.Cancel(g.ctx, opened, "never mind"); err != nil {
		t.Fatal(err)
	}
	has()
}
