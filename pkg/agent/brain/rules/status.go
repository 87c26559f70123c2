package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// LabelPrefix begins the labels that show how an instance stands.
const LabelPrefix = "signalbox:"

// StatusKey is the key of the marker of the comment on how an instance stands.
const StatusKey = "status"

// GatesCheck is the name of the check by which the shepherd shows what a merge waits for.
// It demands nothing: no branch has to require it.
const GatesCheck = "Signalbox gates"

// ConfigurationCheck is the name of the check by which the gateway shows whether the
// configuration of a repository is right.
const ConfigurationCheck = "Signalbox configuration"

// Phase is the status of an instance, one word.
type Phase string

// The phases. A person has to act in Waiting only.
const (
	Working   Phase = "working"
	Waiting   Phase = "waiting"
	Done      Phase = "done"
	Failed    Phase = "failed"
	Cancelled Phase = "cancelled"
)

// Status is how an instance stands. It has no ages: its text changes with the
// instance only.
type Status struct {
	Instance string
	Phase    Phase
	State    string
	About    string // what the lifecycle says of the state
	Since    time.Time
	Role     string // that has to act; "" for none
	Agent    string // that does; "" for none
	Taken    time.Time
	Waits    []string // what is waited for
	Held     string   // why nobody is given the work, as a sentence; "" if that is no limit
	Reason   string   // of the newest move
	Proof    string   // whether tests show the change to be a solution; "" for no change
	Pull     int      // number of the pull request; 0: there is none
	Parts    int      // instances that it has opened
	Ended    int      // of them
	Cost     instance.Cost
	Kind     string   // of the issue, and why; "" if it had no triage
	Repeats  []string // instances that are probably about the same, and why
	Moves    []Move   // the last ones, oldest first
}

// Move is one move of an instance.
type Move struct {
	At       time.Time
	From, To string
	Reason   string
}

// MaxMoves is how many moves a status shows.
const MaxMoves = 6

// Text is the comment that says how the instance stands.
func (s Status) Text() string {
	s.Moves = s.Moves[max(0, len(s.Moves)-MaxMoves):]
	s.Waits = s.Waits[:min(len(s.Waits), maxShown)]
	return write("status.md", s)
}

// Bare is the status without the words of others.
func (s Status) Bare() Status {
	s.Reason, s.Waits, s.Held, s.Proof, s.Kind, s.Repeats = "", nil, "", "", "", nil
	s.Moves = slices.Clone(s.Moves)
	for i := range s.Moves {
		s.Moves[i].Reason = ""
	}
	return s
}

// Headline is the phase for people.
func (s Status) Headline() string {
	return map[Phase]string{Working: "At work", Waiting: "Waiting", Done: "Done", Failed: "Ended without success", Cancelled: "Cancelled"}[s.Phase]
}

// Over reports whether the instance has ended.
func (s Status) Over() bool { return s.Phase == Done || s.Phase == Failed || s.Phase == Cancelled }

// Command tells more.
func (s Status) Command() string { return "signalbox explain " + s.Instance }

// Spent is what it cost so far, "" if nothing was metered.
func (s Status) Spent() string { return spent(s.Cost) }

func spent(c instance.Cost) string {
	var all []string
	if c.USD > 0 {
		all = append(all, fmt.Sprintf("%.2f USD", c.USD))
	}
	if n := uint64(c.TokensIn) + uint64(c.TokensOut); n > 0 {
		all = append(all, grouped(n)+" tokens")
	}
	return strings.Join(all, ", ")
}

// grouped is a number with its thousands apart.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Moment is a time for people, to the minute.
func Moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
