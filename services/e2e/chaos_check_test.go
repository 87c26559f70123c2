package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/testkit/effectcheck"
)

// check compares the log with its rules, the replies with the log, the forge with
// the log, and each final state with the scenario's. It logs what was counted.
func (e *chaosEnv) check(t *testing.T, injector *faultInjector, driven []*drivenInstance) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*maxWait)
	defer cancel()
	e.awaitIdle(ctx, t)
	ends := map[string]int{}
	for _, l := range driven {
		in := e.log.get(l.id)
		ends[l.lifecycle+" "+in.State]++
		if l.wantState != "" && in.State != l.wantState {
			t.Errorf("%s, %s %s, ended in %s (%s), want %s\n%s", l.id, l.lifecycle, l.behaviour, in.State, in.Reason, l.wantState,
				e.formatHistory(l.id))
		}
	}
	find := workflow.NewCatalog(e.definitions...).Hashed
	report, err := logcheck.Check(ctx, e.log.store, find)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Error(v)
	}
	for _, text := range overlappingClaims(report.Claims) {
		t.Error(text)
	}
	log := e.log.entries()
	acks := injector.recorder.acknowledged()
	for _, v := range effectcheck.Commands(log, acks) {
		t.Error(v)
	}
	contents, err := effectcheck.Read(ctx, e.forge.reader(), chaosRepos()...)
	if err != nil {
		t.Fatal(err)
	}
	effects := effectcheck.Check(log, contents, find)
	for _, v := range effects.Violations {
		t.Errorf("%s\n%s", v, e.formatHistory(v.Instance))
	}
	e.checkReplay(ctx, t)
	kills, total := map[string]int{}, 0
	for _, s := range e.supervisor.processes {
		kills[s.name] = int(s.kills.Load())
		total += kills[s.name]
	}
	t.Logf("kills %d: %s", total, formatCounts(kills))
	for _, c := range faults() {
		n := injector.counts[c.name].Load()
		t.Logf("%s: %d", c.name, n)
		if n == 0 && c.name != "slow disks" {
			t.Errorf("there were no %s: this proves nothing of them", c.name)
		}
	}
	t.Logf("put to people: %s", formatCounts(e.log.countEscalations()))
	t.Logf("ends: %s", formatCounts(ends))
	t.Logf("effects on the forge: %s", formatCounts(effects.Effects))
	t.Logf("%d commits, %d commands answered, %d claims", report.Commits, len(acks), len(report.Claims))
}

// checkReplay fails if an orchestrator that starts now has another state than the
// commits that the test followed.
func (e *chaosEnv) checkReplay(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, s := range e.supervisor.processes {
		if serviceOf(s.name) == "orchestrator" {
			s.current().kill()
		}
	}
	e.startProcess(t, "orchestrator").expect(t, `"msg":"running"`)
	people := client.New(e.nc, "operator:ann")
	for id := range e.log.states() {
		want := e.log.get(id)
		got, err := people.Get(ctx, id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
		} else if got.GetState() != want.State || int(got.GetIteration()) != want.Iteration || got.GetSeq() != want.Seq {
			t.Errorf("%s is in %s at %d after %d moves, the log has %s at %d after %d", id, got.GetState(), got.GetSeq(), got.GetIteration(),
				want.State, want.Seq, want.Iteration)
		}
	}
}

// reader returns the forge with the owner's token.
func (f *testForge) reader() effectcheck.Forge {
	return effectcheck.Forge{URL: f.url + "/api/v3", Git: f.url, Token: annToken, Bot: "signalbox"}
}

// awaitIdle returns when no work is pending or unacknowledged for any role, and all
// ends of instances are announced.
func (e *chaosEnv) awaitIdle(ctx context.Context, t *testing.T) {
	t.Helper()
	names := []string{subject.Endings, subject.Statuses}
	for _, name := range chaosProcesses() {
		names = append(names, serviceOf(name))
	}
	for _, name := range slices.Compact(names) {
		info := new(jetstream.ConsumerInfo)
		poll := time.NewTicker(200 * time.Millisecond)
		defer poll.Stop()
		for info.Config.Durable == "" || info.NumPending > 0 || info.NumAckPending > 0 {
			<-poll.C
			consumer, err := e.js.Consumer(ctx, subject.EventStream, name)
			if err == jetstream.ErrConsumerNotFound {
				break
			}
			if err == nil {
				info = consumer.CachedInfo()
			}
			if ctx.Err() != nil {
				t.Fatalf("%s is not idle: %d pending, %d unacknowledged: %v", name, info.NumPending, info.NumAckPending, err)
			}
		}
	}
}

// overlappingClaims describes the claims of one instance that were live at the same
// time.
func overlappingClaims(claims []logcheck.Interval) (found []string) {
	by := map[string][]logcheck.Interval{}
	for _, c := range claims {
		by[c.Instance] = append(by[c.Instance], c)
	}
	for id, held := range by {
		slices.SortFunc(held, func(a, b logcheck.Interval) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Seq, b.Seq)) })
		for i := range held[1:] {
			if a, b := held[i], held[i+1]; b.From.Before(a.To) {
				found = append(found, fmt.Sprintf("%s is held by %s until %s and by %s from %s", id, a.Agent, a.To, b.Agent, b.From))
			}
		}
	}
	return found
}

// formatCounts formats counts by name as one line.
func formatCounts(counts map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(all, ", ")
}

// entries returns the log so far, in order.
func (f *logFollower) entries() (all []effectcheck.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, commits := range f.history {
		for _, c := range commits {
			all = append(all, effectcheck.Entry{Commit: c, Instance: id})
		}
	}
	slices.SortFunc(all, func(a, b effectcheck.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}

// countEscalations counts escalations that required people, and pauses, by reason.
func (f *logFollower) countEscalations() map[string]int {
	all := map[string]int{}
	for _, c := range f.entries() {
		for _, e := range c.Events {
			switch e := e.(type) {
			case instance.Escalated:
				all[e.Reason]++
			case instance.Paused:
				all["paused: "+e.Reason]++
			}
		}
	}
	return all
}
