package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Handle handles one command. name is the workflow that an Open asks for, or the name or
// hash of the definition that a Migrate does. A Migrate that names none gets the newest of
// its workflow. The error is an *instance.Refusal, or says why there is no reply; then the
// command may be sent again under the same id. After an absence of the engine, Handle prolongs
// leases first.
//
// A claim in a lifecycle with an order is given the most urgent work (claim.go). handle carries
// out any other command.
func (e *Engine) Handle(ctx context.Context, cmd instance.Command, name string) (Outcome, error) {
	if err := e.attend(ctx); err != nil {
		return Outcome{}, err
	}
	if claim, ok := cmd.Do.(instance.Claim); ok {
		workflow, ordered, err := e.ordered(ctx, cmd.Instance, claim.Role)
		if err != nil {
			return Outcome{}, err
		}
		if ordered {
			return e.claim(ctx, cmd, claim, workflow)
		}
	}
	return e.handle(ctx, cmd, name)
}

// handle carries out a command on the instance that it names. The command goes through these
// phases, up to maxAttempts times from the second on:
//
//	lock.go     Lock        commands of one instance go one after the other
//	replay.go   replay      the reply of that time, if the command was carried out before
//	handle.go   definition  the lifecycle that it is decided under
//	budget.go   hold        work whose budget is spent is parked in place of its claim
//	commit.go   commit      decide, claim for a waiting agent, append
//	handle.go   classify    after a failure: again, or the refusal, or the error
func (e *Engine) handle(ctx context.Context, cmd instance.Command, name string) (Outcome, error) {
	if err := e.commands.Lock(ctx, cmd.Instance); err != nil {
		return Outcome{}, err
	}
	defer e.commands.Unlock(cmd.Instance)
	_, opens := cmd.Do.(instance.Open)
	s, err := e.states.Start(ctx, cmd.Instance, opens)
	if err != nil {
		return Outcome{}, err
	}
	for range maxAttempts {
		out, err := e.try(ctx, s, cmd, name)
		if err == nil {
			return out, nil
		}
		switch res, err := e.classify(ctx, s, cmd.Instance, err); res {
		case duplicate:
			return e.replyAgain(ctx, cmd)
		case refused:
			return Outcome{Instance: s.Instance, Free: leaseEnd(s.Instance)}, e.confirmRefusal(ctx, s, cmd, err)
		case failed:
			return Outcome{}, err
		}
		if s, err = e.states.Load(ctx, cmd.Instance); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, contended(cmd.Instance)
}

// ordered returns the workflow of the instance that a claim names. ok is false unless its
// definition has an order and the role works in it.
func (e *Engine) ordered(ctx context.Context, id, role string) (workflow string, ok bool, err error) {
	in, known := e.states.Known(id)
	if !known {
		s, err := e.states.Load(ctx, id)
		if err != nil || !s.Instance.Exists() {
			return "", false, err
		}
		in = s.Instance
	}
	def, err := e.Definitions.Hashed(ctx, in.Definition)
	if err != nil || len(def.Order) == 0 {
		return "", false, err
	}
	return in.Workflow, slices.Contains(def.Roles(), role), nil
}

// try makes one attempt at a command.
func (e *Engine) try(ctx context.Context, s *projection.State, cmd instance.Command, name string) (Outcome, error) {
	if s.MayHaveDone(cmd.ID) {
		if out, ok, err := e.replay(ctx, cmd); ok || err != nil {
			return out, err
		}
	}
	def, err := e.definition(ctx, s.Instance, name, cmd)
	if err != nil {
		return Outcome{}, err
	}
	w := e.workflows.of(def.Name)
	if err := w.RLock(ctx); err != nil {
		return Outcome{}, err
	}
	defer w.RUnlock()
	cmd.At = e.Now()
	switch do := cmd.Do.(type) {
	case instance.Claim:
		err = e.hold(ctx, w, def, s, do.Role, cmd.At)
	case instance.RaiseDay:
		cmd.Do, err = e.raise(s.Instance, cmd, do)
	}
	if err != nil {
		return Outcome{}, err
	}
	return e.commit(ctx, w, def, s, cmd)
}

// definition finds what a command is decided under: the definition that the
// instance was opened with, unless it is to be opened or to migrate.
func (e *Engine) definition(ctx context.Context, in instance.Instance, name string, cmd instance.Command) (*workflow.Definition, error) {
	open, opens := cmd.Do.(instance.Open)
	_, migrates := cmd.Do.(instance.Migrate)
	var def *workflow.Definition
	var err error
	switch {
	case !in.Exists() && !opens:
		return nil, &instance.Refusal{Code: instance.CodeUnknownInstance, Instance: cmd.Instance, What: "no such instance"}
	case !in.Exists():
		if def, err = e.Definitions.Named(name); err == nil {
			def, err = e.narrow(ctx, def, open.Issue.Configured())
		}
	case migrates:
		if def, err = e.target(ctx, cmp.Or(name, in.Workflow)); err == nil {
			def, err = e.narrow(ctx, def, in.Issue.Configured())
		}
	default:
		return e.Definitions.Hashed(ctx, in.Definition)
	}
	if errors.Is(err, workflow.ErrUnknown) || errors.Is(err, workflow.ErrFalseHash) || workflow.Problems(err) != nil {
		return nil, &instance.Refusal{Code: instance.CodeInvalid, Instance: cmd.Instance, What: err.Error()}
	}
	return def, err
}

// narrow returns the definition with the values of policy that the repository's
// configuration asks for, which narrow it. It is found by its hash from then on.
func (e *Engine) narrow(ctx context.Context, def *workflow.Definition, config instance.Configuration) (*workflow.Definition, error) {
	if len(config.Policy) == 0 || e.Keep == nil {
		return def, nil
	}
	narrowed, err := def.Narrow(config.Policy)
	if err != nil || narrowed == def {
		return narrowed, err
	}
	return narrowed, e.Keep(ctx, narrowed)
}

// target finds a definition by its name or its content hash.
func (e *Engine) target(ctx context.Context, nameOrHash string) (*workflow.Definition, error) {
	def, unnamed := e.Definitions.Named(nameOrHash)
	if unnamed == nil {
		return def, nil
	}
	def, err := e.Definitions.Hashed(ctx, nameOrHash)
	if errors.Is(err, workflow.ErrUnknown) {
		return nil, unnamed
	}
	return def, err
}

// maxAttempts bounds the attempts at one command. Each lost one is another writer's
// progress, so a caller that gets there shares the instance with a crowd.
const maxAttempts = 1000

// ErrContended means that a command lost every attempt to other writers.
var ErrContended = errors.New("too many writers on one instance")

// contended returns the error of the last attempt.
func contended(what string) error {
	return fmt.Errorf("%s: %w: %d tries", what, ErrContended, maxAttempts)
}

// result is the next step after an attempt that failed.
type result int

const (
	failed    result = iota // there is no reply, or it is the error
	duplicate               // the command's id has made a commit before
	refused                 // on the newest state
	outdated                // another writer was first, or the refusal was of an old state: try again
)

// classify returns the next step after an attempt on state s failed, and returns the error
// that is to be returned.
func (e *Engine) classify(ctx context.Context, s *projection.State, id string, err error) (result, error) {
	switch {
	case errors.Is(err, errHeld):
		return outdated, err
	case errors.Is(err, eventstore.ErrDuplicate): // some of these are ErrConflict as well
		return duplicate, err
	case errors.Is(err, eventstore.ErrInvalid), errors.Is(err, eventstore.ErrTooLarge):
		return failed, &instance.Refusal{Code: instance.CodeInvalid, Instance: id, What: err.Error()}
	case errors.Is(err, eventstore.ErrConflict):
		if e.Conflicted != nil {
			e.Conflicted(id)
		}
		return outdated, err
	case !errors.As(err, new(*instance.Refusal)):
		return failed, err
	}
	// A refusal from memory may be of a past that is over, and without the log it is no reply.
	fresh, unsure := e.states.Fresh(ctx, s)
	switch {
	case unsure != nil:
		return failed, unsure
	case fresh:
		return refused, err
	}
	return outdated, err
}

// leaseEnd is when the claim of an instance ends.
func leaseEnd(in instance.Instance) time.Time {
	if in.Claim == nil {
		return time.Time{}
	}
	return in.Claim.Lease
}

// ErrBehind means that a claim names work that the log does not have yet, as the server
// that was asked knows it.
var ErrBehind = errors.New("the log is behind")

// confirmRefusal returns the refusal of a command, or why there is a reason to doubt it. An
// agent whose claim is refused acknowledges the work's message, and it is gone. A server of
// a cluster that was cut off, or is catching up, may know less than there is. Then the work
// is newer than all that it has.
func (e *Engine) confirmRefusal(ctx context.Context, s *projection.State, cmd instance.Command, refusal error) error {
	claim, ok := cmd.Do.(instance.Claim)
	if !ok || claim.Work <= s.Instance.Seq {
		return refusal
	}
	head, err := e.Store.Head(ctx)
	if err != nil {
		return err
	}
	if head < claim.Work {
		return fmt.Errorf("%w: it ends at %d, the work of %s is commit %d", ErrBehind, head, cmd.Instance, claim.Work)
	}
	switch fresh, err := e.states.Fresh(ctx, s); {
	case err != nil:
		return err // not the refusal too: it would be taken for a reply
	case fresh:
		return refusal
	}
	return fmt.Errorf("%w: %s went on meanwhile", ErrBehind, cmd.Instance)
}
