package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type doctorCommand struct {
	running
	machineFlags
	forgeFlags
}

// Run checks what Signalbox needs, on this machine, of the forge and of NATS, and prints a
// line for each check. It returns an error if a check fails.
func (c doctorCommand) Run(ctx context.Context, env *term.Env) error {
	e := &checkup{env: env, patience: c.Timeout}
	c.machine(ctx, e)
	c.forge(ctx, e)
	s, err := c.connect(ctx, env)
	if err != nil {
		e.say(failed("nats", err.Error(), "start `signalbox up`, or say with --nats where the server is; resolve and demo need none"))
		return e.verdict()
	}
	defer s.nats.Close()
	e.check(ctx, "nats", s.server)
	_, err = access.JetStream(ctx, s.nats)
	stores := !errors.Is(err, access.ErrNoJetStream)
	if !stores {
		e.say(finding{"jetstream", worry, "not checked, nor queues: " + err.Error(), "ask an administrator for what doctor finds"})
	} else if stores = e.check(ctx, "jetstream", s.jetStream); stores {
		e.streams(ctx, s)
		e.check(ctx, "clock", s.clock)
	}
	if c.URL == "" {
		s.gateway(ctx, e)
	}
	answers := e.check(ctx, "orchestrator", s.orchestrator)
	if answers {
		s.stored(ctx, e)
	}
	if answers && stores {
		e.check(ctx, "lifecycles", s.lifecycles)
		e.roles(ctx, s)
		e.check(ctx, "work", func(ctx context.Context) finding { return s.faults(ctx, env) })
	}
	return e.verdict()
}

// status is the result of a check.
type status string

const (
	fine  status = "ok"
	worry status = "warn"
	fail  status = "fail"
)

// finding is the JSON of one check.
type finding struct {
	Check  string `json:"check"`
	Status status `json:"status"`
	Detail string `json:"detail"`
	Advice string `json:"advice"` // what to do; may be empty
}

func failed(check, detail, advice string) finding { return finding{check, fail, detail, advice} }

// checkup prints the findings and keeps which failed.
type checkup struct {
	env      *term.Env
	patience time.Duration
	failed   []string // checks
}

// check runs one check with a time-out. It returns false if the check fails.
func (e *checkup) check(ctx context.Context, name string, run func(context.Context) finding) bool {
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	f := run(ctx)
	f.Check = name
	e.say(f)
	return f.Status != fail
}

func (e *checkup) say(f finding) {
	if f.Status == fail {
		e.failed = append(e.failed, f.Check)
	}
	if e.env.JSON {
		_ = e.env.Print(f) // Run of the package returns the error
		return
	}
	style := map[status]term.Style{fine: term.Good, worry: term.Wait, fail: term.Bad}[f.Status]
	e.env.Printf("%s  %-20s  %s\n", e.env.Paint(style, fmt.Sprintf("%-4s", f.Status)), f.Check, term.Line(f.Detail))
	if f.Advice != "" {
		e.env.Printf("%28s%s\n", "", e.env.Paint(term.Faint, term.Line(f.Advice)))
	}
}

func (e *checkup) verdict() error {
	if len(e.failed) > 0 {
		return fmt.Errorf("%d of the checks failed: %s", len(e.failed), strings.Join(e.failed, ", "))
	}
	return nil
}

// oldestGit is the oldest version that is known to work.
const oldestGit = "2.39"

func gitVersion(ctx context.Context) finding {
	version, err := git.Version(ctx)
	if err != nil {
		return failed("", err.Error(), "install git "+oldestGit+" or newer; agents work with it")
	}
	if older(version, oldestGit) {
		return finding{"", worry, version, "git " + oldestGit + " is the oldest this was tried with"}
	}
	return finding{"", fine, version, ""}
}

// older reports whether version is older than than, by the first two numbers.
func older(version, than string) bool {
	var a, b [2]int
	_, _ = fmt.Sscanf(version, "%d.%d", &a[0], &a[1])
	_, _ = fmt.Sscanf(than, "%d.%d", &b[0], &b[1])
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}

const mayNot = "or this account may not ask: see the server's permissions"

func (s system) server(context.Context) finding {
	took, err := s.nats.RTT()
	if err != nil {
		return failed("", err.Error(), "the server accepted the connection and went silent")
	}
	version, url := s.nats.ConnectedServerVersion(), s.nats.ConnectedUrlRedacted()
	return finding{"", fine, fmt.Sprintf("nats-server %s at %s, %s away", version, url, took.Round(10*time.Microsecond)), ""}
}

func (s system) jetStream(ctx context.Context) finding {
	js, err := access.JetStream(ctx, s.nats)
	if err != nil {
		return failed("", err.Error(), "")
	}
	if err := store.Majority(ctx, js); errors.Is(err, store.ErrNoMajority) {
		return failed("", err.Error(), "start the servers that are away: all goes on by itself when more than half are there")
	}
	info, err := js.AccountInfo(ctx)
	if err != nil {
		return failed("", err.Error(), "the server needs JetStream, with a store directory; "+mayNot)
	}
	detail := fmt.Sprintf("%s in %s", size(info.Store), view.Count(info.Streams, "stream"))
	usage, err := store.StorageOf(ctx, js)
	if err != nil {
		return failed("", err.Error(), "")
	}
	return nearlyFull(detail, usage)
}

// The parts of a limit of storage from which doctor warns, and fails.
const (
	storageNear = 0.8
	storageFull = 0.98
)

// nearlyFull judges the storage that is used.
func nearlyFull(detail string, usage store.Usage) finding {
	const advice = "raise the limit of the account, or clean up what else it stores: at the limit the log takes nothing, and work stops"
	if usage.Limit > 0 {
		detail += fmt.Sprintf("; %s of the account's %s are used", size(usage.Used), size(usage.Limit))
	}
	switch {
	case usage.Part() >= storageFull:
		return failed("", detail, advice)
	case usage.Part() >= storageNear:
		return finding{"", worry, detail, advice}
	}
	return finding{"", fine, detail, ""}
}

func (s system) orchestrator(ctx context.Context) finding {
	reply, err := s.Definition(ctx, "")
	if err != nil {
		return failed("", "no orchestrator answers", "start `signalbox up` or the orchestrator, and look at what it logs")
	}
	return finding{"", fine, "answers; it knows " + strings.Join(reply.GetNames(), ", "), ""}
}

// stored prints a fault of the storage that the orchestrator met, such as a full disk, which the server's own figures do not show.
func (s system) stored(ctx context.Context, e *checkup) {
	checks, err := s.Health(ctx)
	if err != nil {
		return // an older orchestrator, or an account that may not ask
	}
	for _, one := range checks {
		if one.GetCheck() == "storage" && status(one.GetStatus()) == fail {
			e.say(finding{one.GetCheck(), fail, one.GetDetail(), one.GetAdvice()})
		}
	}
}

// lifecycles checks that the orchestrator can load each stored definition.
func (s system) lifecycles(ctx context.Context) finding {
	js, err := access.JetStream(ctx, s.nats)
	if err != nil {
		return failed("", err.Error(), "")
	}
	hashes, err := store.ListDefinitions(ctx, js)
	if err != nil {
		return finding{"", worry, "not checked: " + err.Error(), ""}
	}
	var unread []string
	for _, hash := range hashes {
		no := new(instance.Refusal)
		switch _, err := s.Definition(ctx, hash); {
		case errors.As(err, &no):
			unread = append(unread, fmt.Sprintf("%.12s (%s)", hash, no.What))
		case err != nil:
			return finding{"", worry, "not checked: " + err.Error(), ""}
		}
	}
	if len(unread) > 0 {
		return failed("", fmt.Sprintf("the orchestrator cannot load %d of %s, and their instances wait: %s", len(unread),
			view.Count(len(hashes), "stored definition"), strings.Join(unread, "; ")), "run the version of Signalbox that stored them, or a newer one")
	}
	return finding{"", fine, "all of " + view.Count(len(hashes), "stored definition") + " can be loaded", ""}
}

// Differences of the clocks that are reported: times look wrong; leases go wrong.
const (
	skewNoticed = time.Second
	skewHurts   = 10 * time.Second
)

// clock compares this machine's clock with the server's, which sets the log's times.
func (s system) clock(ctx context.Context) finding {
	js, err := access.JetStream(ctx, s.nats)
	if err != nil {
		return failed("", err.Error(), "")
	}
	before := time.Now()
	stream, err := js.Stream(ctx, subject.EventStream)
	if err != nil {
		return finding{"", worry, "not compared: " + err.Error(), ""}
	}
	took := time.Since(before)
	skew := stream.CachedInfo().TimeStamp.Sub(before.Add(took / 2)).Abs()
	switch {
	case skew > skewHurts+took:
		return failed("", term.Duration(skew)+" off the server's", "set this machine's time: leases and time-outs go by it")
	case skew > skewNoticed+took:
		return finding{"", worry, term.Duration(skew) + " off the server's", "times in lists and tables are off by as much"}
	}
	return finding{"", fine, "agrees with the server's", ""}
}

// streams checks the streams that the orchestrator creates.
func (e *checkup) streams(ctx context.Context, s system) {
	for _, c := range []struct{ check, stream, advice string }{
		{"log", subject.EventStream, "it is the log; the orchestrator makes it when it starts for the first time"},
		{"dead letters", store.DeadStream, "the orchestrator makes it when it starts"},
		{"timers", subject.TimerStream, "the orchestrator makes it when it starts"},
		{"definitions", "KV_" + store.DefinitionBucket, "the orchestrator makes it when it starts"},
		{"objects", "OBJ_" + store.ObjectBucket, "the orchestrator makes it when it starts"},
	} {
		e.check(ctx, c.check, func(ctx context.Context) finding { return s.stream(ctx, c.stream, c.advice) })
	}
}

func (s system) stream(ctx context.Context, name, advice string) finding {
	js, err := access.JetStream(ctx, s.nats)
	if err != nil {
		return failed("", err.Error(), "")
	}
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return failed("", fmt.Sprintf("stream %s: %v", name, err), advice)
	}
	state := stream.CachedInfo().State
	detail := fmt.Sprintf("stream %s: %s, %s", name, view.Count(int(state.Msgs), "message"), size(state.Bytes))
	wrong := store.CheckSettings(stream.CachedInfo().Config)
	switch {
	case wrong != nil:
		return failed("", wrong.Error(), "a running orchestrator puts them back if the server permits it; find who may change streams")
	case name == subject.EventStream && state.Msgs > 0 && state.Msgs != state.LastSeq-state.FirstSeq+1:
		return failed("", detail+", with holes", "the log is damaged: stop the orchestrators and restore it from a copy")
	case name == store.DeadStream && state.Msgs > 0:
		return finding{"", worry, detail, "this is work that was given up on; `signalbox dead ls` lists it"}
	}
	return finding{"", fine, detail, ""}
}

// roles checks that each role that owns a state has a queue and an agent.
func (e *checkup) roles(ctx context.Context, s system) {
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	js, err := access.JetStream(ctx, s.nats)
	if err == nil {
		var roles []string
		if roles, err = s.roles(ctx); err == nil {
			for _, role := range roles {
				e.check(ctx, role, func(ctx context.Context) finding { return s.queue(ctx, js, role) })
			}
			e.check(ctx, "comments", func(ctx context.Context) finding { return comments(ctx, js) })
			return
		}
	}
	e.say(failed("roles", err.Error(), ""))
}

// roles returns the owners in all lifecycles.
func (s system) roles(ctx context.Context) ([]string, error) {
	defs, err := s.Definitions(ctx)
	if err != nil {
		return nil, err
	}
	var roles []string
	for _, d := range defs {
		for _, role := range d.Roles() {
			if !slices.Contains(roles, role) {
				roles = append(roles, role)
			}
		}
	}
	return roles, nil
}

// queue checks the work of a role, and whether an agent serves it.
func (s system) queue(ctx context.Context, js jetstream.JetStream, role string) finding {
	consumer, err := js.Consumer(ctx, subject.EventStream, role)
	if err != nil {
		return failed("", "no work queue: "+err.Error(), "the orchestrator makes it when it starts")
	}
	info := consumer.CachedInfo()
	direct, err := s.direct(ctx, role)
	if err != nil {
		return failed("", "the agents cannot be listed: "+err.Error(), "")
	}
	busy := info.NumAckPending > 0 || direct > 0
	idle := view.Count(info.NumWaiting, "agent") + " free"
	detail := fmt.Sprintf("%d waiting for an agent, %d under way, %s", info.NumPending, max(info.NumAckPending, direct), idle)
	switch {
	case info.NumWaiting == 0 && !busy && info.NumPending == 0:
		return finding{"", fine, "nobody works as " + role + ", and there is nothing to do", ""}
	case info.NumWaiting == 0 && !busy:
		return finding{"", worry, detail, "nobody works as " + role + ": start one, or give it a brain"}
	case info.NumRedelivered > 0:
		detail += fmt.Sprintf(", %d handed out more than once", info.NumRedelivered)
		return finding{"", worry, detail, "agents died or gave work back: see what they log"}
	}
	return finding{"", fine, detail, ""}
}

// comments looks at the queue of comments to people.
func comments(ctx context.Context, js jetstream.JetStream) finding {
	consumer, err := js.Consumer(ctx, subject.EventStream, subject.Endings)
	if err != nil {
		return failed("", "no queue: "+err.Error(), "the orchestrator makes it when it starts")
	}
	if n := consumer.CachedInfo().NumRedelivered; n > 0 {
		return finding{"", worry, view.Count(n, "comment") + " for people could not be posted; each is tried again, at least once a day",
			"the log of the PM names the issues and why the forge refuses: one may be locked, or its author has blocked us"}
	}
	return finding{"", fine, "none is owed to people", ""}
}

// size formats a number of bytes.
func size(n uint64) string {
	const unit = 1024
	value, suffix := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < unit {
			break
		}
		value, suffix = value/unit, next
	}
	if suffix == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, suffix)
}
