package app

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

type instanceMessage = pb.Instance

// tale is one story on its way.
type tale struct {
	w    *env
	id   string
	pull int
}

// begin opens a story. vars are names and values in turn.
func (e *env) begin(name string, issue int, vars ...string) *tale {
	e.Helper()
	s := &tale{w: e, id: widgets + "/" + name}
	open := &pb.Open{Workflow: e.workflow, Issue: wire.Issue(instance.Issue{
		Repo: widgets, Number: issue, Title: "Say hello in " + name, Body: "As a user, I am greeted.\n\n## Acceptance criteria\n\n- make check",
	}), Vars: map[string]string{}}
	for i := 0; i < len(vars); i += 2 {
		if vars[i] == "state" {
			open.State = vars[i+1]
			continue
		}
		open.Vars[vars[i]] = vars[i+1]
	}
	if _, err := e.client.OpenWith(e.ctx, "", s.id, open); err != nil {
		e.Fatal(err)
	}
	return s
}

// get is the story as it is now.
func (s *tale) get() *instanceMessage {
	s.w.Helper()
	in, err := s.w.client.Get(s.w.ctx, s.id)
	if err != nil {
		s.w.Fatal(err)
	}
	return in
}

// until waits for the story to be as wanted.
func (s *tale) until(what string, wanted func(*instanceMessage) bool) *instanceMessage {
	s.w.Helper()
	in := s.get()
	if wanted(in) {
		return in
	}
	err := s.w.client.Watch(s.w.ctx, s.id, in.GetSeq(), func(seen client.LogEntry) error {
		now, err := s.w.client.Get(s.w.ctx, s.id)
		if err != nil {
			return err
		}
		if in = now; wanted(in) {
			return client.ErrStopWatch
		}
		return nil
	})
	if err != nil {
		s.w.Fatalf("%s: it is not %s, but in %s (%s), parked %v, vars %v, escalations %v, last %v: %v", s.id, what,
			in.GetState(), in.GetReason(), in.GetParked(), in.GetVars(), in.GetEscalations(), in.GetLastResult(), err)
	}
	return in
}

// reaches waits for a state.
func (s *tale) reaches(state string) *instanceMessage {
	s.w.Helper()
	return s.until("in "+state, func(in *instanceMessage) bool { return in.GetState() == state })
}

// escalated waits until the story is put to people.
func (s *tale) escalated() *instanceMessage {
	s.w.Helper()
	return s.until("put to people", func(in *instanceMessage) bool {
		for _, e := range in.GetEscalations() {
			if e.GetRequiresHuman() && !e.GetResolved() {
				return true
			}
		}
		return false
	})
}

// proposed waits for the pull request, and for the shepherd to wait.
func (s *tale) proposed() *tale {
	s.w.Helper()
	in := s.rests(0)
	n, err := strconv.Atoi(in.GetVars()["prNumber"])
	if err != nil || n == 0 {
		s.w.Fatalf("%s has no pull request: %v", s.id, in.GetVars())
	}
	s.pull = n
	return s
}

// rests waits until the shepherd has looked after the given commit and waits.
func (s *tale) rests(after uint64) *instanceMessage {
	s.w.Helper()
	return s.until("at rest", func(in *instanceMessage) bool {
		return in.GetState() == "pushed" && in.GetParked() != nil && in.GetSeq() > after
	})
}

// signals numbers the signals of all tests.
var signals atomic.Int64

// told says that the pull request changed, as the gateway would, and waits
// until the shepherd has looked at it and waits again.
func (s *tale) told() *instanceMessage {
	s.w.Helper()
	return s.rests(s.tell())
}

func (s *tale) tell() uint64 {
	s.w.Helper()
	reply, err := s.w.client.Signal(s.w.ctx, s.id, "changed", fmt.Sprint("change/", signals.Add(1)), "gateway", nil)
	if err != nil {
		s.w.Fatal(err)
	}
	return reply.GetSeq()
}

// head is the commit the pull request is at.
func (s *tale) head() string {
	s.w.Helper()
	return s.on()["head"].(object)["sha"].(string)
}

// on is the pull request as the forge has it.
func (s *tale) on() object {
	s.w.Helper()
	return s.w.ann.do("GET", fmt.Sprintf("/pulls/%d", s.pull), nil)
}

// gate is a verdict of the newest look and its reason.
func gate(in *instanceMessage, name string) (verdict, reason string) {
	for _, e := range in.GetEvidence() {
		if e.GetName() == "gate:"+name {
			return e.GetVerdict(), e.GetData()["reason"]
		}
	}
	return "", ""
}

// stands sees to it that the story waits, is not merged, and that of all gates
// only those named do not pass.
func (s *tale) stands(in *instanceMessage, open ...string) {
	s.w.Helper()
	var found []string
	for _, e := range in.GetEvidence() {
		if name, ok := strings.CutPrefix(e.GetName(), "gate:"); ok && e.GetVerdict() != "pass" && name != "not-draft" {
			found = append(found, name+" "+e.GetVerdict())
		}
	}
	if fmt.Sprint(found) != fmt.Sprint(open) || in.GetState() != "pushed" || s.on()["merged"] == true {
		s.w.Errorf("%s in %s (merged %v) waits for %q, want %q\n%s", s.id, in.GetState(), s.on()["merged"], found, open, in.GetLastResult().GetSummary())
	}
}

// moves are the states that the story went to, with the reasons.
func (s *tale) moves() (all []string) {
	s.w.Helper()
	records, err := s.w.client.History(s.w.ctx, s.id, 0)
	if err != nil {
		s.w.Fatal(errors.Join(err, s.w.ctx.Err()))
	}
	for _, r := range records {
		for _, e := range r.GetCommit().GetEvents() {
			if m := e.GetMoved(); m != nil {
				all = append(all, m.GetTo()+": "+m.GetReason())
			}
		}
	}
	return all
}

// summaries are what the results say that are in the log.
func (s *tale) summaries() (all []string) {
	s.w.Helper()
	records, err := s.w.client.History(s.w.ctx, s.id, 0)
	if err != nil {
		s.w.Fatal(errors.Join(err, s.w.ctx.Err()))
	}
	for _, r := range records {
		for _, e := range r.GetCommit().GetEvents() {
			if done := e.GetReported(); done != nil {
				all = append(all, done.GetResult().GetSummary())
			}
		}
	}
	return all
}

func evidenceOf(in *instanceMessage, name string) *pb.Evidence {
	for _, e := range in.GetEvidence() {
		if e.GetName() == name {
			return e
		}
	}
	return nil
}
