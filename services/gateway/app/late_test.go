package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/forge"
)

// A list of a replica may lack a change, and have one that was made after it.
func TestAChangeThatAListShowsLateIsHeard(t *testing.T) {
	for _, list := range []string{"issues", "comments"} {
		t.Run(list, func(t *testing.T) {
			w := newEnv(t)
			one, two := w.report(w.ann, "one"), w.report(w.ann, "two")
			p := w.poller()
			w.poll(p)
			w.second.Store(3)
			w.say(w.ann, one, "early, and shown late")
			w.second.Store(10)
			w.say(w.ann, two, "late")
			w.late.Store(list + "/1")
			w.poll(p)
			w.poll(p)
			w.want(one)
			w.want(two, "ann: late")
			w.late.Store("")
			w.poll(p)
			w.poll(p)
			w.poll(w.poller())
			w.want(one, "ann: early, and shown late")
			w.want(two, "ann: late")
		})
	}
}

func TestIssuesThatWereReadForLongEnoughAreSettled(t *testing.T) {
	r, now := readings{}, at(0)
	rows := []forge.Issue{{Number: 1, UpdatedAt: at(1)}, {Number: 2, UpdatedAt: at(2)}}
	if got := r.settle(rows, now); len(got) != 0 {
		t.Errorf("at first %v", got)
	}
	rows[1].UpdatedAt = at(3)
	if got := r.settle(rows, now.Add(overlap)); len(got) != 0 {
		t.Errorf("within the overlap %v", got)
	}
	if got := r.settle(rows, now.Add(overlap+time.Second)); len(got) != 1 || !got[1] {
		t.Errorf("after it %v, want that of 1", got)
	}
	if r.settle(nil, now); len(r) != 0 {
		t.Errorf("%v is kept", r)
	}
}

func TestThatTheOwnAccountIsNotHeardIsSaidOnce(t *testing.T) {
	w := newEnv(t)
	n := w.report(w.ann, "one")
	var log bytes.Buffer
	p := w.poller(func(p *poller) { p.log = slog.New(slog.NewTextHandler(&log, nil)) })
	own := w.forge.Client("signalbox")
	if _, err := forge.Post(w.ctx, own, widgets, n, rules.Marker(Name(widgets, n), "key"), "a question"); err != nil {
		t.Fatal(err)
	}
	w.poll(p)
	if strings.Contains(log.String(), "not heard") {
		t.Errorf("our own question is taken for a person's:\n%s", log.String())
	}
	w.say(own, n, "I, the owner of the token")
	w.say(own, n, "and again")
	w.poll(p)
	w.want(n)
	if strings.Count(log.String(), "token's own account are ignored") != 1 {
		t.Errorf("it said:\n%s", log.String())
	}
}
