package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

const (
	maxNudges  = 2 // how often a model that only talks is reminded of its tools
	maxRepeats = 5 // the same calls in a row after which it is ended
	lastTurns  = 3 // when it gets the notice that its turns end
)

// step is one piece of work.
type step struct {
	*Brain
	a brain.Assignment
	w brain.Watcher

	root       *os.Root     // nil: there is no code
	servers    *mcp.Session // nil: there are none
	tools      []tool
	window     window
	transcript transcript
	turn       int
	began      time.Time      // when the time that is not recorded yet began
	done       *brain.Outcome // stated by finish or ask
	over       error          // a brain.ErrBudget: the newest answer is the last
}

// note tells people what the runtime does, and writes it down.
func (s *step) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	s.w.Progress("%s", line)
	s.transcript.add("\n[%s]\n", line)
}

// spend records what a turn used.
func (s *step) spend(ctx context.Context, u usage) error {
	if u == (usage{}) {
		return nil
	}
	cost := s.cfg.card.cost(u)
	cost.WallMS = s.passed()
	s.transcript.add("[turn %d: %d tokens in (%d from the cache, %d into it),  %d out%s]\n",
		s.turn, cost.TokensIn, u.read, u.written, u.out, dollars(cost, s.cfg.card))
	// Though the work is being stopped, this was paid for.
	return s.w.Spend(context.WithoutCancel(ctx), cost)
}

// passed returns the milliseconds since it was called last.
func (s *step) passed() int64 {
	whole := time.Since(s.began).Truncate(time.Millisecond)
	s.began = s.began.Add(whole)
	return whole.Milliseconds()
}

func dollars(c instance.Cost, card Card) string {
	if card.In == 0 && card.Out == 0 {
		return ", no price known"
	}
	return fmt.Sprintf(", $%.4f", c.USD)
}

func (s *step) run(ctx context.Context, prompt string) (brain.Outcome, error) {
	if s.a.Dir != "" {
		root, err := os.OpenRoot(s.a.Dir)
		if err != nil {
			return brain.Outcome{}, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
		}
		defer root.Close()
		s.root = root
	}
	defer func() { s.servers.Close() }()
	if err := s.connect(ctx); err != nil {
		return brain.Outcome{}, err
	}
	s.tools = s.kit()
	s.window = window{size: s.cfg.card.Window - int64(s.cfg.MaxTokens), tell: s.note}
	q := request{system: s.system(), tools: s.tools, key: "signalbox " + s.a.Instance + " " + s.a.Role, messages: []message{{text: prompt}}}
	nudges, repeats, before := 0, 0, ""
	for s.turn = 1; s.turn <= s.cfg.Turns; s.turn++ {
		s.window.fit(q.messages)
		r, err := s.ask(ctx, q)
		if err != nil {
			return brain.Outcome{}, err
		}
		s.window.took(r.usage)
		if r.text != "" {
			s.transcript.add("\n--- turn %d\n%s\n", s.turn, strings.TrimSpace(r.text))
		}
		next := message{}
		if len(r.calls) == 0 {
			if nudges++; nudges > maxNudges {
				return s.talk(ctx, r)
			}
			next.text = "Go on with your tools, or end with finish: a text alone has no effect."
			if r.full {
				next.text = "That was cut off at the limit of an answer. Go on in smaller steps."
			}
		} else {
			nudges = 0
			if next.results, err = s.call(ctx, r); err != nil {
				return brain.Outcome{}, err
			}
		}
		if s.done != nil {
			return *s.done, nil
		}
		if s.over != nil {
			return brain.Outcome{}, s.over
		}
		if now := signature(r); now != before {
			before, repeats = now, 0
		} else if repeats++; repeats >= maxRepeats {
			return brain.Outcome{}, fmt.Errorf("%s said or called the same %d times in a row: %s", s.Brain, repeats+1, shortened(now, maxSaid))
		}
		if s.cfg.Turns-s.turn == lastTurns {
			next.text = strings.TrimSpace(next.text + fmt.Sprintf("\nYou have %d turns left. Bring it to an end and call finish.", lastTurns))
		}
		q.messages = append(q.messages, message{reply: &r}, next)
	}
	return brain.Outcome{}, fmt.Errorf("%s did not finish within %d turns", s.Brain, s.cfg.Turns)
}

// talk is the outcome of a model that will not call finish: its words, if what it left is
// taken.
func (s *step) talk(ctx context.Context, r reply) (brain.Outcome, error) {
	out := brain.Outcome{Result: instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: strings.TrimSpace(r.text)}}
	if err := s.w.Check(ctx, out); err != nil {
		return out, fmt.Errorf("%s ended without finish: %w", s.Brain, err)
	}
	return out, nil
}

// signature identifies an answer, whatever its ids.
func signature(r reply) string {
	var b strings.Builder
	for _, c := range r.calls {
		fmt.Fprintf(&b, "%s %s\n", c.name, c.args)
	}
	if b.Len() == 0 {
		return r.text
	}
	return b.String()
}

func shortened(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// call does what the model calls for. Nothing is called after one that ends the work.
func (s *step) call(ctx context.Context, answer reply) ([]result, error) {
	var all []result
	for _, c := range answer.calls {
		r := result{id: c.id}
		switch {
		case s.done != nil:
			r.text, r.failed = "not done: the work has ended", true
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case answer.full && !json.Valid(c.args):
			r.text, r.failed = fmt.Sprintf("not done: the call was cut off at the limit of an answer, %d tokens. Go in smaller steps.",
				s.cfg.MaxTokens), true
		default:
			s.w.Progress("%s %s", c.name, s.aim(c))
			text, err := s.do(ctx, c)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if errors.Is(err, brain.ErrInfrastructure) {
				return nil, err
			}
			r.text = capped(text, s.limit(c.name))
			if err != nil {
				r.text, r.failed = capped("error: "+err.Error(), s.limit(c.name)), true
			}
		}
		s.transcript.add("\n> %s %s\n%s\n", c.name, c.args, strings.TrimRight(r.text, "\n"))
		all = append(all, r)
	}
	return all, nil
}

// maxOutput is how much of the output of a tool of ours the model is given, in bytes.
const maxOutput = 32 << 10

// capped is an output without its middle, of at most limit bytes.
func capped(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if over := len(text) - limit; over > 0 {
		text = strings.ToValidUTF8(text[:limit/2], "") + fmt.Sprintf("\n[… %d bytes left out …]\n", over) +
			strings.ToValidUTF8(text[len(text)-limit/2:], "")
	}
	if text == "" {
		return "(nothing)"
	}
	return text
}
