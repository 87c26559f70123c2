package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Summary is one line of `ls --json`.
type Summary struct {
	Instance      string          `json:"instance"`
	Workflow      string          `json:"workflow"`
	State         string          `json:"state"`
	Kind          workflow.Kind   `json:"kind"`
	Owner         string          `json:"owner"`
	Agent         string          `json:"agent"` // empty: not claimed
	Lease         time.Time       `json:"lease,omitzero"`
	EnteredAt     time.Time       `json:"entered_at"`
	Iteration     int             `json:"iteration"`
	Attempt       int             `json:"attempt"`
	OpenQuestions int             `json:"open_questions"`
	Paused        bool            `json:"paused"`
	PausedFor     string          `json:"paused_for,omitempty"` // why
	Closed        instance.Closed `json:"closed"`
	Title         string          `json:"title"`
	Seq           uint64          `json:"seq"`

	Worker          string         `json:"worker"`           // the role that works now: the owner, or the role that is asked
	Failures        int            `json:"failures"`         // in a row, in the state with the most
	OpenEscalations int            `json:"open_escalations"` // to people
	Deadline        time.Time      `json:"deadline,omitzero"`
	Level           workflow.Level `json:"level,omitempty"` // of the newest deadline that passed
	ParkedUntil     time.Time      `json:"parked_until,omitzero"`
	WaitsForPlace   bool           `json:"waits_for_place,omitempty"` // a limit of what is under way is reached
	Parent          string         `json:"parent,omitempty"`
	WaitingOn       int            `json:"waiting_on"` // instances that have to end well first
	Shown           bool           `json:"shown"`      // a test failed on the base and passes on the newest commit
	Unproven        string         `json:"unproven"`   // why no test shows the change; empty if one does, or if there is no change
}

// Summaries converts the orchestrator's reply.
func Summaries(ps []*pb.Summary) []Summary {
	return list(ps, func(p *pb.Summary) Summary {
		return Summary{
			Instance: p.GetInstance(), Workflow: p.GetWorkflow(), State: p.GetState(), Kind: workflow.Kind(p.GetKind()), Owner: p.GetOwner(),
			Agent: p.GetAgent(), Lease: when(p.GetLease()), EnteredAt: when(p.GetEnteredAt()), Iteration: int(p.GetIteration()),
			Attempt:       int(p.GetAttempt()),
			OpenQuestions: int(p.GetOpenQuestions()), Paused: p.GetPaused(), PausedFor: p.GetPausedFor(), Closed: instance.Closed(p.GetClosed()),
			Title: p.GetTitle(), Seq: p.GetSeq(),
			Worker: p.GetWorker(), Failures: int(p.GetFailures()), OpenEscalations: int(p.GetOpenEscalations()), Level: workflow.Level(p.GetLevel()),
			Deadline: deadline(p), ParkedUntil: when(p.GetParked().GetUntil()),
			WaitsForPlace: p.GetParked().GetWaitsFor() == string(instance.ForPlace), Parent: p.GetParent(), WaitingOn: int(p.GetWaitingOn()),
			Shown: p.GetShown(), Unproven: p.GetUnproven(),
		}
	})
}

// Sort sorts by name, with numbers in names by their value: acme/widgets/2 comes before
// acme/widgets/10.
func Sort(all []Summary) []Summary {
	slices.SortStableFunc(all, func(a, b Summary) int { return natural(a.Instance, b.Instance) })
	return all
}

// digits matches a number in a name.
var digits = lazyregexp.New(`[0-9]+|[^0-9]+`)

// natural compares names, numbers in them by their value.
func natural(a, b string) int {
	as, bs := digits.FindAllString(a, -1), digits.FindAllString(b, -1)
	for i := range min(len(as), len(bs)) {
		x, y := strings.TrimLeft(as[i], "0"), strings.TrimLeft(bs[i], "0")
		numbers := as[i][0] <= '9' && as[i][0] >= '0' && bs[i][0] <= '9' && bs[i][0] >= '0'
		switch {
		case numbers && len(x) != len(y):
			return len(x) - len(y)
		case numbers && x != y:
			return strings.Compare(x, y)
		case !numbers && as[i] != bs[i]:
			return strings.Compare(as[i], bs[i])
		}
	}
	return cmp.Or(len(as)-len(bs), strings.Compare(a, b))
}

// deadline returns when the state's timeout is over.
func deadline(p *pb.Summary) time.Time {
	if p.GetTimeout() == nil || p.GetClosed() != "" {
		return time.Time{}
	}
	return when(p.GetEnteredAt()).Add(p.GetTimeout().AsDuration())
}

// List prints summaries, one a line.
func List(env *term.Env, all []Summary) error {
	if env.JSON {
		for _, s := range all {
			if err := env.Print(s); err != nil {
				return err
			}
		}
		return nil
	}
	t := env.Table("instance", "state", "owner", "agent", "in state", "deadline", "lease", "moves", "title").Narrow("title", "agent", "state", "owner")
	for _, s := range all {
		t.Row(term.Cell{Style: term.Bold, Text: s.Instance}, term.Cell{Style: s.style(), Text: s.where()}, s.owner(), s.Agent,
			env.Since(s.EnteredAt), s.due(env), s.lease(env), s.Iteration, cut(s.Title, 60))
	}
	return t.Print()
}

// where describes the state and what holds the instance there.
func (s Summary) where() string {
	var rest []string
	if s.Paused {
		rest = append(rest, "paused")
	}
	if names, ok := strings.CutPrefix(s.PausedFor, instance.ForIssues); ok && s.Paused {
		rest = append(rest, "waits for "+cut(names, 40))
	}
	if s.Closed == instance.Cancelled {
		rest = append(rest, string(s.Closed))
	}
	if s.Closed == "" {
		rest = append(rest, s.held()...)
	}
	if s.Unproven != "" && s.Closed == instance.Ended {
		rest = append(rest, "unproven")
	}
	if s.OpenQuestions > 0 && s.Closed == "" {
		rest = append(rest, Count(s.OpenQuestions, "question"))
	}
	if rest == nil {
		return s.State
	}
	return s.State + " (" + strings.Join(rest, ", ") + ")"
}

// owner returns the role that works now, and the one that asked it; "" if the instance is closed.
func (s Summary) owner() string {
	if s.Closed != "" {
		return ""
	}
	if s.Worker != "" && s.Worker != s.Owner {
		return s.Worker + " for " + s.Owner
	}
	return s.Owner
}

// held lists the reasons that hold the instance, other than its state.
func (s Summary) held() []string {
	var held []string
	if s.OpenEscalations > 0 {
		held = append(held, "escalated")
	}
	if s.Worker != "" && s.Worker != s.Owner {
		held = append(held, "asked "+s.Worker)
	}
	if s.WaitsForPlace {
		held = append(held, "waits for a place")
	}
	if !s.ParkedUntil.IsZero() {
		held = append(held, "parked")
	}
	if s.WaitingOn > 0 {
		held = append(held, fmt.Sprintf("after %d more", s.WaitingOn))
	}
	if s.Failures > 0 {
		held = append(held, Count(s.Failures, "failure"))
	}
	return held
}

// due formats the time until the deadline, or since.
func (s Summary) due(env *term.Env) string {
	switch left := s.Deadline.Sub(env.Now()); {
	case s.Deadline.IsZero():
		return ""
	case left > 0:
		return term.Duration(left)
	default:
		return term.Duration(-left) + " over"
	}
}

func (s Summary) style() term.Style { return stateStyle(s.Kind, s.Paused, s.Closed) }

// stateStyle returns the style of a state. It depends on the kind, not on the name.
func stateStyle(kind workflow.Kind, paused bool, closed instance.Closed) term.Style {
	switch {
	case closed == instance.Cancelled:
		return term.Faint
	case kind == workflow.Final:
		return term.Good
	case paused, kind == workflow.Wait:
		return term.Wait
	}
	return term.Place
}

// lease formats the time until the lease lapses, or since.
func (s Summary) lease(env *term.Env) string {
	switch left := s.Lease.Sub(env.Now()); {
	case s.Lease.IsZero():
		return ""
	case left > 0:
		return term.Duration(left)
	default:
		return "lapsed " + term.Duration(-left) + " ago"
	}
}

// Count returns "1 question" or "3 questions".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// cut returns s on one line of at most n characters.
func cut(s string, n int) string {
	return term.Cut(term.Line(s), n)
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
