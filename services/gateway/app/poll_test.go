package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// board is a forge on which things happen while it is read.
type board struct {
	forge.Reader
	issues   []forge.Issue
	comments map[int][]forge.Comment
	reading  func(issue int) // before an issue's comments are listed
}

func (b *board) Issues(_ context.Context, _ string, since time.Time) ([]forge.Issue, error) {
	return slices.DeleteFunc(slices.Clone(b.issues), func(i forge.Issue) bool { return i.UpdatedAt.Before(since) }), nil
}

func (b *board) Comments(_ context.Context, _ string, issue int, since time.Time) ([]forge.Comment, error) {
	if b.reading != nil {
		b.reading(issue)
	}
	return slices.DeleteFunc(slices.Clone(b.comments[issue]), func(c forge.Comment) bool { return c.CreatedAt.Before(since) }), nil
}

func (b *board) Self(context.Context) (string, error) { return "signalbox", nil }

func (b *board) Permission(context.Context, string, string) (string, error) { return "read", nil }

// say adds a comment, made at the second.
func (b *board) say(issue int, id int64, second int) {
	b.comments[issue] = append(b.comments[issue], forge.Comment{ID: id, Author: forge.User{Login: "ann"}, CreatedAt: at(second)})
	b.touch(issue, second)
}

func (b *board) touch(issue, second int) {
	for i := range b.issues {
		if b.issues[i].Number == issue {
			b.issues[i].UpdatedAt = at(second)
		}
	}
}

func at(second int) time.Time { return time.Date(2026, 1, 2, 9, 0, second, 0, time.UTC) }

// polled makes a poller on an orchestrator that takes everything, and returns
// it with the ids of the signals it sent.
func polled(t *testing.T, b *board) (*poller, func() string) {
	t.Helper()
	server := natstest.Start(t, natstest.Options{})
	kv, err := server.JetStream(t).CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "cursors"})
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan string, 100)
	taken := map[string]bool{}
	answering := server.Connect(t)
	if _, err := answering.Subscribe("sb.api.*", func(m *nats.Msg) {
		c := new(pb.Command)
		if err := proto.Unmarshal(m.Data, c); err != nil {
			t.Error(err)
		}
		if c.GetSignal() != nil {
			sent <- c.GetId()
		}
		reply, _ := proto.Marshal(&pb.CommandReply{Duplicate: taken[c.GetId()]})
		taken[c.GetId()] = true
		_ = m.Respond(reply)
	}); err != nil {
		t.Fatal(err)
	}
	if err := answering.Flush(); err != nil {
		t.Fatal(err)
	}
	p := &poller{reader: b, all: true, client: client.New(server.Connect(t), "gateway"), cursors: cursors{kv}, repo: "acme/widgets", workflow: "issue",
		log: slog.New(slog.DiscardHandler)}
	p.permissions = &permissions{forge: b, repo: p.repo, now: time.Now}
	return p, func() string {
		var all []string
		for len(sent) > 0 {
			all = append(all, <-sent)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
}

func poll(t *testing.T, p *poller) {
	t.Helper()
	if err := p.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestEveryCommentIsTakenOnce(t *testing.T) {
	b := &board{comments: map[int][]forge.Comment{}}
	for n := 1; n <= 2; n++ {
		b.issues = append(b.issues, forge.Issue{Number: n, NodeID: fmt.Sprint(n), Title: "x", UpdatedAt: at(n)})
	}
	p, signals := polled(t, b)
	poll(t, p)
	if got := signals(); got != "" {
		t.Errorf("it sent %s, and nobody has said a thing", got)
	}

	// The one on issue 1 comes when that has been read, the one on issue 2 a
	// second later and still in time.
	b.touch(2, 3)
	b.reading = func(issue int) {
		if issue == 2 {
			b.reading = nil
			b.say(1, 11, 4)
			b.say(2, 21, 5)
		}
	}
	poll(t, p)
	if got := signals(); got != "comment/21" {
		t.Errorf("it sent %s, want comment/21", got)
	}
	poll(t, p)
	if got := signals(); got != "comment/11" {
		t.Errorf("it sent %s, want comment/11 and not comment/21 again", got)
	}

	// Two in one second, of which the second comes after the first was taken.
	b.say(1, 12, 6)
	poll(t, p)
	b.say(1, 13, 6)
	poll(t, p)
	poll(t, p)
	if got := signals(); got != "comment/12 comment/13" {
		t.Errorf("it sent %s, want comment/12 comment/13", got)
	}
	b.touch(1, 7) // an edit
	poll(t, p)
	if got := signals(); got != "" {
		t.Errorf("it sent %s again", got)
	}
	later := 8 + int(2*overlap/time.Second)
	b.touch(1, later)
	poll(t, p)
	if got := signals(); got != "" {
		t.Errorf("after the overlap it sent %s again", got)
	}
	kept, err := p.cursors.load(t.Context(), p.repo)
	if err != nil || !kept.Since.Equal(at(later)) || len(kept.Taken) > 0 {
		t.Errorf("the cursor is %v, %v", kept, err)
	}
}

// labelled is a board that knows who set a label.
type labelled struct {
	board
	setter string
	asked  int // how often for a permission
}

func (b *labelled) LabelSetter(context.Context, string, int, string) (string, error) {
	if b.setter == "" {
		return "", forge.ErrNotFound
	}
	return b.setter, nil
}

func (b *labelled) Permission(context.Context, string, string) (string, error) {
	b.asked++
	return "read", nil
}
