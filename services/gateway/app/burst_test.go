package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/testkit/programtest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// crowd is a forge with many comments of one person who may write.
type crowd struct {
	*github.Client // nil: nothing else is asked
	began          time.Time

	mu       sync.Mutex
	comments map[int][]forge.Comment // by issue
}

func (c *crowd) Self(context.Context) (string, error) { return "signalbox", nil }

func (c *crowd) Permission(context.Context, string, string) (string, error) { return "write", nil }

func (c *crowd) Issue(_ context.Context, repo string, number int) (forge.Issue, error) {
	return forge.Issue{Repo: repo, Number: number, NodeID: fmt.Sprint("I_", number), Title: "It breaks", State: "open",
		Author: forge.User{ID: 1, Login: "ann"}, CreatedAt: c.began, UpdatedAt: c.began}, nil
}

func (c *crowd) Comments(_ context.Context, _ string, number int, since time.Time) ([]forge.Comment, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.comments[number]), func(one forge.Comment) bool { return one.UpdatedAt.Before(since) }), nil
}

// say makes a comment and returns the delivery that tells of it.
func (c *crowd) say(issue, n int) (id string, body []byte) {
	at := time.Now().UTC().Truncate(time.Second) // as the forge counts
	c.mu.Lock()
	c.comments[issue] = append(c.comments[issue], forge.Comment{ID: int64(n + 1), Body: fmt.Sprintf("I see that, too, %d times.", n),
		Author: forge.User{ID: 1, Login: "ann"}, CreatedAt: at, UpdatedAt: at})
	c.mu.Unlock()
	body, err := json.Marshal(commentEvent("created", issue, at))
	if err != nil {
		panic(err)
	}
	return fmt.Sprint("delivery-", n), body
}

// crowded is a gateway with webhooks that watches a crowd. It handles deliveries from
// work on.
func (e *env) crowded() (c *crowd, h hook, work func()) {
	e.Helper()
	c = &crowd{began: time.Now().Add(-time.Hour), comments: map[int][]forge.Comment{}}
	p := e.poller(func(p *poller) { p.reader = c })
	of := e.watched(p)
	of.closed.forge, of.pulls.forge = c, c
	h = e.hook(of)
	return c, h, func() {
		ctx, cancel := context.WithCancel(e.ctx)
		ended := make(chan error, 1)
		go func() { ended <- h.deliveries.consume(ctx) }()
		e.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				e.Error(err)
			}
		})
	}
}

// times returns when each comment on the issue became a signal, by its text.
func (e *env) times(issue int) map[string][]time.Time {
	e.Helper()
	records, err := e.client.History(e.ctx, Name(widgets, issue), 0)
	if err != nil {
		e.Fatal(err)
	}
	all := map[string][]time.Time{}
	for _, r := range records {
		for _, ev := range r.GetCommit().GetEvents() {
			if s := ev.GetSignalled(); s != nil {
				all[s.GetData()["body"]] = append(all[s.GetData()["body"]], r.GetTime().AsTime())
			}
		}
	}
	return all
}

// heardAll waits until n comments are signals.
func (e *env) heardAll(issues, n int) {
	e.Helper()
	for {
		heard := 0
		all, err := e.client.List(e.ctx, &pb.ListRequest{})
		if err == nil && len(all) == issues {
			for issue := range issues {
				heard += len(e.times(issue + 1))
			}
		}
		if heard >= n {
			return
		}
		select {
		case <-e.ctx.Done():
			e.Fatalf("%d of %d comments are signals", heard, n)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestABurstOfDeliveriesIsTakenOnceEachThoughTheServerRestarts(t *testing.T) {
	n, measured := burst(200)
	var e *env
	var restart func()
	if limit := time.Minute + time.Duration(n)*50*time.Millisecond; measured {
		server := natstest.StartProcess(t, programtest.NATSServer(t), "always")
		restart = func() { server.Kill(); server.Restart(t) }
		e = newEnvOn(t, &natstest.Server{URL: server.URL}, limit)
	} else {
		server := natstest.Start(t, natstest.Options{})
		restart = func() { server.Restart(t) }
		e = newEnvOn(t, server, limit)
	}
	ctx := e.ctx
	c, h, handle := e.crowded()
	if measured {
		handle()
	}
	issues := max(1, n/100)
	work := make(chan int)
	var again atomic.Int64
	var senders sync.WaitGroup
	for range 32 {
		senders.Go(func() {
			for i := range work {
				id, body := c.say(i%issues+1, i)
				for h.answer(posted("issue_comment", id, "s3cret", body)) != http.StatusAccepted {
					if ctx.Err() != nil {
						return
					}
					again.Add(1) // the forge delivers it again
				}
				if i%10 == 0 { // and some twice, without need
					h.answer(posted("issue_comment", id, "s3cret", body))
				}
			}
		})
	}
	began := time.Now()
	for i := range n {
		if i == n/2 {
			restart()
		}
		select {
		case work <- i:
		case <-ctx.Done():
			t.Fatal("nobody takes them")
		}
	}
	close(work)
	senders.Wait()
	taken := time.Since(began)
	if !measured { // a request that the restart swallowed is waited for, for seconds
		handle()
	}
	e.heardAll(issues, n)
	t.Logf("%d deliveries taken in %s, %d of them again, all signals after %s", n, taken.Round(time.Millisecond), again.Load(),
		time.Since(began).Round(time.Millisecond))
	for issue := range issues {
		for text, at := range e.times(issue + 1) {
			if len(at) != 1 {
				t.Errorf("%q is %d signals", text, len(at))
			}
		}
	}
}

func TestACommentBecomesASignalWithinASecondAtFiftyASecond(t *testing.T) {
	n, measured := burst(0)
	if !measured {
		t.Skip("make burst measures it")
	}
	n = min(n, 1000)
	e := newEnvOn(t, natstest.Start(t, natstest.Options{SyncAlways: true}), 5*time.Minute)
	p := e.poller()
	h := e.hook(e.watched(p))
	go func() { _ = h.deliveries.consume(e.ctx) }()
	const issues = 20
	for range issues {
		e.report(e.ann, "It breaks")
	}
	e.poll(p)
	delivered := make([]time.Time, n)
	var senders sync.WaitGroup
	tick := time.NewTicker(time.Second / 50)
	defer tick.Stop()
	for i := range n {
		<-tick.C
		senders.Go(func() {
			issue := i%issues + 1
			said := e.say(e.ann, issue, fmt.Sprint("Comment ", i))
			delivered[i] = time.Now()
			h.deliver("issue_comment", fmt.Sprint("delivery-", i), commentEvent("created", issue, said.CreatedAt))
		})
	}
	senders.Wait()
	e.heardAll(issues, n)
	var took []time.Duration
	for issue := range issues {
		for text, at := range e.times(issue + 1) {
			var i int
			if _, err := fmt.Sscanf(text, "Comment %d", &i); err != nil || len(at) != 1 {
				t.Errorf("%q is %d signals, %v", text, len(at), err)
				continue
			}
			took = append(took, at[0].Sub(delivered[i]))
		}
	}
	slices.Sort(took)
	p50, p99 := took[len(took)/2], took[len(took)*99/100]
	t.Logf("%d comments: p50 %s, p99 %s, longest %s", len(took), p50, p99, took[len(took)-1])
	if p99 > time.Second {
		t.Errorf("p99 is %s", p99)
	}
}

// burst returns how many deliveries a test sends, and whether it is to measure.
func burst(otherwise int) (n int, measured bool) {
	if given, err := strconv.Atoi(os.Getenv("SIGNALBOX_BURST")); err == nil {
		return given, true
	}
	return otherwise, false
}
