package jetstream

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/subject"
)

// gallery is a log, and somebody who hears what is acknowledged to witnesses.
type gallery struct {
	*testing.T
	store *Store
	group *group
	heard *nats.Subscription
	at    []string // what witnesses were told with Sent
}

func newGallery(t *testing.T) *gallery {
	server := natstest.Start(t, natstest.Options{})
	g := &gallery{T: t}
	g.store, g.group = grouped(t, server)
	g.store.config.Timeout = time.Second / 2
	nc := server.Connect(t)
	var err error
	if g.heard, err = nc.SubscribeSync("_INBOX.who.>"); err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// by is a witness at an inbox, that knows or does not know what it hears.
func (g *gallery) by(inbox string, knows bool) *eventstore.Witness {
	return &eventstore.Witness{Inbox: inbox, Sent: func(at string) bool { g.at = append(g.at, inbox+"."+at); return knows }}
}

func (g *gallery) append(c eventstore.Commit, by *eventstore.Witness) (eventstore.Commit, error) {
	c.Witness = by
	seq, err := g.store.Append(g.Context(), c)
	c.Seq = seq
	return c, err
}

// stored has a commit be stored, and its witness have heard it or not.
func (g *gallery) stored(c eventstore.Commit, by *eventstore.Witness, heard bool) eventstore.Commit {
	g.Helper()
	c, err := g.append(c, by)
	if err != nil || (by.Heard != "") != heard || heard && by.Inbox+"."+by.Heard != g.at[len(g.at)-1] {
		g.Fatalf("%v; the witness has heard it at %q, want %v", err, by.Heard, heard)
	}
	if last, err := g.store.Last(g.Context(), c.Instance); err != nil || last.Seq != c.Seq || last.Chain != c.Chain {
		g.Fatalf("the log has %+v (%v), want %+v", last, err, c)
	}
	return c
}

// next is what is heard next, where the last witness was told.
func (g *gallery) next() (seq uint64, ok bool) {
	g.Helper()
	msg, err := g.heard.NextMsg(10 * time.Second)
	if err != nil || len(g.at) == 0 || msg.Subject != g.at[len(g.at)-1] {
		g.Fatalf("heard %+v (%v), witnesses were told %v", msg, err, g.at)
	}
	return subject.Stored(msg.Data)
}

func TestAWitness(t *testing.T) {
	first := eventstoretest.Next("a", "first", eventstore.Commit{})
	for name, f := range map[string]func(g *gallery){
		"hears that a commit is stored": func(g *gallery) {
			c := g.stored(first, g.by("_INBOX.who.1", true), true)
			if seq, ok := g.next(); !ok || seq != c.Seq {
				g.Errorf("heard %d, %v", seq, ok)
			}
			c = g.stored(eventstoretest.Next("a", "second", c), g.by("_INBOX.who.1", true), true)
			if seq, ok := g.next(); !ok || seq != c.Seq || g.at[0] == g.at[1] {
				g.Errorf("heard %d, %v, at %v", seq, ok, g.at)
			}
		},
		"that does not know what it hears has not heard it": func(g *gallery) {
			g.stored(first, g.by("_INBOX.who.1", false), false)
		},
		"hears of no conflict that it is stored": func(g *gallery) {
			g.stored(first, g.by("", true), false)
			by := g.by("_INBOX.who.1", true)
			_, err := g.append(eventstoretest.Next("a", "other", eventstore.Commit{}), by)
			if seq, ok := g.next(); !errors.Is(err, eventstore.ErrConflict) || by.Heard != "" || ok {
				g.Errorf("%v; heard %d, %v, at %q", err, seq, ok, by.Heard)
			}
		},
		"hears of no commit that was there before": func(g *gallery) {
			c := g.stored(first, g.by("", true), false)
			again := g.stored(first, g.by("_INBOX.who.1", true), false)
			if _, ok := g.next(); ok || again.Seq != c.Seq {
				g.Errorf("it is at %d, want %d; heard %v", again.Seq, c.Seq, ok)
			}
		},
		"is at an inbox or not at all": func(g *gallery) {
			c := eventstore.Commit{}
			for _, inbox := range []string{"", "who", "sb.who.1", "_INBOX.who", "_INBOX.who.1.2", "_INBOX..1", "_INBOX.who."} {
				c = g.stored(eventstoretest.Next("a", "at-"+inbox, c), g.by(inbox, true), false)
			}
			if len(g.at) > 0 {
				g.Errorf("they were told %v", g.at)
			}
		},
		"hears nothing of a batch": func(g *gallery) {
			commits := openings(leastGroup)
			for i := range commits {
				commits[i].Witness = g.by("_INBOX.who.1", true)
			}
			if err := errors.Join(together(g.T, g.store, g.group, commits)...); err != nil || len(g.at) > 0 {
				g.Errorf("%v; they were told %v", err, g.at)
			}
		},
		"hears that nobody takes it": func(g *gallery) {
			if _, err := g.store.witnessed(g.Context(), &nats.Msg{Subject: "nobody"}, g.by("_INBOX.who.1", true)); !errors.Is(err, nats.ErrNoResponders) {
				g.Errorf("got %v, want ErrNoResponders", err)
			}
		},
		"is asked once, whatever comes of that": func(g *gallery) {
			g.store.witnesses.conn = natstest.Start(g.T, natstest.Options{}).Connect(g.T) // where nobody takes it
			by := g.by("_INBOX.who.1", true)
			once := by.Sent
			by.Sent = func(at string) bool {
				if len(g.at) > 0 {
					g.Fatal("it was asked again")
				}
				return once(at)
			}
			if g.stored(first, by, false); len(g.at) != 1 {
				g.Error("it was not asked")
			}
		},
		"is not asked when the store is closed": func(g *gallery) {
			c := g.stored(first, g.by("_INBOX.who.1", true), true)
			if err := g.store.Close(g.Context()); err != nil {
				g.Fatal(err)
			}
			if g.stored(eventstoretest.Next("a", "later", c), g.by("_INBOX.who.1", true), false); len(g.at) != 1 {
				g.Errorf("they were told %v", g.at)
			}
		},
		"is not asked for a while after an acknowledgement was lost": func(g *gallery) {
			c := g.stored(first, g.by("_INBOX.who.1", true), true)
			if err := g.store.witnesses.sub.Unsubscribe(); err != nil { // what the server says now nobody here hears
				g.Fatal(err)
			}
			c = g.stored(eventstoretest.Next("a", "lost", c), g.by("_INBOX.who.1", true), false)
			c = g.stored(eventstoretest.Next("a", "after", c), g.by("_INBOX.who.1", true), false)
			if len(g.at) != 2 || len(g.store.witnesses.waiting) > 0 {
				g.Fatalf("they were told %v, %d wait", g.at, len(g.store.witnesses.waiting))
			}
			g.store.witnesses.until = time.Time{}
			g.stored(eventstoretest.Next("a", "later", c), g.by("_INBOX.who.1", true), false)
			if len(g.at) != 3 {
				g.Errorf("they were told %v", g.at)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(newGallery(t))
		})
	}
}

func TestWitnessesHearWhatIsOnItsWayWhenTheStoreIsClosed(t *testing.T) {
	nc := natstest.Start(t, natstest.Options{}).Connect(t)
	for name, last := range map[string]func(t *testing.T, w *witnesses, at string, told <-chan *nats.Msg){
		"is acknowledged": func(t *testing.T, w *witnesses, at string, told <-chan *nats.Msg) {
			if err := nc.Publish("_INBOX.who.1."+at, nil); err != nil {
				t.Fatal(err)
			}
			select {
			case <-told:
			case <-time.After(10 * time.Second):
				t.Error("it is not heard")
			}
		},
		"is given up": func(_ *testing.T, w *witnesses, at string, _ <-chan *nats.Msg) { w.forget(at) },
	} {
		t.Run("until the last "+name, func(t *testing.T) {
			w := &witnesses{conn: nc}
			by := &eventstore.Witness{Inbox: "_INBOX.who.1"}
			other, _ := w.ticket(by)
			at, told := w.ticket(by)
			w.close()
			if w.forget(other); w.sub == nil {
				t.Fatal("nobody listens, and one is on its way")
			}
			last(t, w, at, told)
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.sub != nil {
				t.Error("there is somebody who listens for nobody")
			}
		})
	}
}
