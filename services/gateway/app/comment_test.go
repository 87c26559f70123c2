package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestANewIssueOpensOneInstance(t *testing.T) {
	w := newEnv(t)
	n := w.report(w.bob, "The sum is wrong")
	p := w.poller()
	for range 3 {
		w.poll(p)
	}
	w.poll(w.poller())
	in, err := w.client.Get(w.ctx, Name(widgets, n))
	if err != nil {
		t.Fatal(err)
	}
	if i := in.GetIssue(); in.GetSeq() != 1 || i.GetTitle() != "The sum is wrong" || i.GetBody() != "It is broken." || i.GetAuthor() != "bob" || i.GetRepo() != widgets || i.GetNumber() != 1 || !strings.HasSuffix(i.GetUrl(), "/acme/widgets/issues/1") {
		t.Errorf("the instance is %v", in)
	}
	if got := w.instances(); !slices.Equal(got, []string{"acme/widgets/1"}) {
		t.Errorf("instances are %v", got)
	}
}

func TestACommentOfAPersonIsASignalOnce(t *testing.T) {
	w := newEnv(t)
	one, two := w.report(w.bob, "one"), w.report(w.bob, "two")
	p := w.poller()
	w.poll(p)
	w.say(w.bob, one, "first") // all within the second of the reports
	w.say(w.ann, one, "second")
	w.poll(p)
	w.want(one, "bob: first", "ann: second")
	w.say(w.ann, two, "third")
	w.poll(w.poller()) // after a restart
	w.say(w.ann, one, "fourth")
	w.poll(w.poller())
	w.second.Store(5)
	w.say(w.bob, two, "fifth")
	w.poll(p)
	w.poll(p)
	w.want(one, "bob: first", "ann: second", "ann: fourth")
	w.want(two, "ann: third", "bob: fifth")
	records, err := w.client.History(w.ctx, Name(widgets, two), 0)
	if err != nil {
		t.Fatal(err)
	}
	s := records[len(records)-1].GetCommit().GetEvents()[0].GetSignalled()
	if s.GetName() != "commented" || s.GetData()["permission"] != "read" || !strings.Contains(s.GetData()["url"], "/issues/2#") || s.GetRef() == "" {
		t.Errorf("the signal is %v", s)
	}
}

// A crash between the signal and the cursor, and much happens before the restart.
func TestACommentIsASignalOnceEvenIfTheCursorWasNotKept(t *testing.T) {
	w := newEnv(t)
	n := w.report(w.bob, "one")
	w.poll(w.poller())
	w.second.Store(5)
	w.say(w.bob, n, "first")
	dying := w.poller(func(p *poller) { p.cursors = cursors{forgetful{w.kv}} })
	if err := dying.poll(w.ctx); !errors.Is(err, errForgetful) {
		t.Fatalf("the poll ended with %v", err)
	}
	for i := range 40 {
		if _, err := w.client.Note(w.ctx, Name(widgets, n), "remark", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	w.poll(w.poller())
	w.want(n, "bob: first")
}

// forgetful is a bucket that keeps nothing.
type forgetful struct{ jetstream.KeyValue }

var errForgetful = errors.New("the disk is full")

func (forgetful) Put(context.Context, string, []byte) (uint64, error) { return 0, errForgetful }

func TestWhatNoPersonSaysNewMovesNothing(t *testing.T) {
	w := newEnv(t)
	n := w.report(w.bob, "one")
	p := w.poller()
	first := w.say(w.ann, n, "first")
	w.poll(p)
	w.second.Store(5)
	w.say(w.robot, n, "I am a bot")
	w.say(w.forge.Client("signalbox"), n, "I am ourselves")
	if _, err := w.ann.EditComment(w.ctx, widgets, first.ID, "second thoughts"); err != nil {
		t.Fatal(err)
	}
	w.poll(p)
	w.second.Store(6)
	if _, err := w.ann.EditComment(w.ctx, widgets, first.ID, "third thoughts"); err != nil {
		t.Fatal(err)
	}
	w.poll(w.poller())
	w.want(n, "ann: first")
}

func TestOnlyIssuesWithTheLabelAreTakenUp(t *testing.T) {
	w := newEnv(t)
	labelled := func(p *poller) { p.label = "signalbox" }
	yes, no := w.report(w.ann, "yes", "signalbox"), w.report(w.ann, "no", "bug")
	w.say(w.bob, no, "before it counted")
	p := w.poller(labelled)
	w.poll(p)
	if got := w.instances(); !slices.Equal(got, []string{Name(widgets, yes)}) {
		t.Errorf("instances are %v", got)
	}
	w.second.Store(5)
	w.say(w.bob, yes, "and on it goes")
	w.poll(p)
	w.second.Store(10)
	if err := w.ann.AddLabels(w.ctx, widgets, no, []string{"signalbox"}); err != nil {
		t.Fatal(err)
	}
	w.poll(p)
	w.poll(w.poller(labelled))
	w.want(no, "bob: before it counted")
	w.want(yes, "bob: and on it goes")
}

func TestNothingIsSkippedWhenAPollBreaksOff(t *testing.T) {
	for name, f := range map[string]*localforge.Fault{"no answer": {}, "a server error": {Status: 502}, "an answer that got lost": {After: true}} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			one := w.report(w.bob, "one")
			p := w.poller()
			w.poll(p)
			w.second.Store(5)
			two := w.report(w.bob, "two")
			w.say(w.bob, one, "first")
			w.say(w.bob, two, "second")
			w.forge.FailRequests("", "", *f)
			ctx, cancel := context.WithTimeout(w.ctx, 300*time.Millisecond) // the adapter tries again by itself
			defer cancel()
			if err := p.poll(ctx); err == nil {
				t.Error("the poll ended well")
			}
			w.forge.Recover()
			w.poll(p)
			w.want(one, "bob: first")
			w.want(two, "bob: second")
		})
	}
}

func TestNothingIsSkippedWhileThereIsNoOrchestrator(t *testing.T) {
	w := newEnv(t)
	one := w.report(w.bob, "one")
	p := w.poller()
	w.poll(p)
	before, err := p.cursors.load(w.ctx, widgets)
	if err != nil {
		t.Fatal(err)
	}
	w.second.Store(5)
	w.say(w.bob, one, "first")
	two := w.report(w.bob, "two")
	w.stop()
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second) // time enough to come to the orchestrator, on a busy machine too
	defer cancel()
	if err := p.poll(ctx); !errors.Is(err, client.ErrUnavailable) {
		t.Errorf("the poll ended with %v", err)
	}
	if after, err := p.cursors.load(w.ctx, widgets); err != nil || !after.equal(before) {
		t.Errorf("the cursor went from %v to %v, %v", before, after, err)
	}
	w.resume()
	w.poll(w.poller())
	w.want(one, "bob: first")
	w.want(two)
}

func TestARemarkOnWhatWaitsForPeopleAnswersNothing(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	n := e.report(e.ann, "The sum is wrong")
	e.poll(p)
	id := Name(widgets, n)
	if _, err := e.client.Override(e.ctx, id, "waiting_for_human_input", "asked"); err != nil {
		t.Fatal(err)
	}
	state := func() (string, []string) {
		in, err := e.client.Get(e.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, n := range in.GetNotes() {
			kinds = append(kinds, n.GetKind())
		}
		return in.GetState(), kinds
	}
	for range 5 {
		e.second.Add(1)
		e.say(e.ann, n, "Thanks, I will look tomorrow.")
		e.poll(p)
	}
	e.second.Add(1)
	e.say(e.ann, n, "@bob can you look at the invoices?")
	e.poll(p)
	if in, kinds := state(); in != "waiting_for_human_input" || !slices.Equal(kinds, slices.Repeat([]string{"remarked"}, 6)) {
		t.Fatalf("it is in %s, with the notes %q", in, kinds)
	}
	e.second.Add(1)
	e.say(e.ann, n, "Use big.Rat instead.")
	e.poll(p)
	if in, kinds := state(); in != "human_input_received" || kinds[6] != "commented" {
		t.Errorf("it is in %s, with the notes %q", in, kinds)
	}
}
