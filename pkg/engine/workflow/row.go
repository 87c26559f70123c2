package workflow

import (
	"fmt"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// state reads one row of the table.
func (r *reader) state(name string, at Position, n ast.Node) State {
	s := State{Name: name, at: at}
	var final bool
	r.object(n, map[string]setter{
		"about":    r.text(&s.About),
		"owner":    r.text(&s.Owner),
		"final":    r.flag(&final),
		"timeout":  r.duration(&s.Timeout),
		"proposes": func(n ast.Node) { s.proposes = new(bool); r.flag(s.proposes)(n) },
		"writes":   r.names(&s.Writes, &s.writesAt),
		"tell":     r.flag(&s.Tell),
		"added":    r.text(&s.Added),
		"work": func(n ast.Node) {
			s.work = new(WorkSpec)
			*s.work = r.work("work", n, &s)
		},
		"answers": func(n ast.Node) {
			s.answers = map[string]WorkSpec{}
			s.placeWork("answers", r.at(n))
			r.entries(n, func(role string, at Position, value ast.Node) { s.answers[role] = r.work("answers."+role, value, &s) })
		},
		"next":   r.list(func(n ast.Node) { s.Next = append(s.Next, r.transition(n)) }),
		"always": r.list(func(n ast.Node) { s.Always = append(s.Always, r.rule(n)) }),
		"asks":   r.list(func(n ast.Node) { s.Asks = append(s.Asks, r.inquiry(n)) }),
		"spawns": r.list(func(n ast.Node) { s.Spawns = append(s.Spawns, r.spawn(n)) }),
		"decide": r.list(func(n ast.Node) { s.Decide = append(s.Decide, r.rule(n)) }),
		"on": func(n ast.Node) {
			s.On = map[string][]Rule{}
			r.entries(n, func(signal string, _ Position, value ast.Node) { s.On[signal] = r.reaction(value) })
		},
	})
	if final {
		s.Kind = Final
	}
	return s
}

// work reads what the work of a state is, and places what it reads under key.
func (r *reader) work(key string, n ast.Node, s *State) (w WorkSpec) {
	s.placeWork(key, r.at(n))
	word := func(name string, to *string) setter {
		return func(n ast.Node) {
			r.text(to)(n)
			s.placeWork(key+"."+name, r.at(n))
		}
	}
	r.object(n, map[string]setter{"runs": word("runs", &w.Runs), "change": word("change", &w.Change), "does": word("does", &w.Does)})
	return w
}

func (s *State) placeWork(key string, at Position) {
	if s.workAt == nil {
		s.workAt = map[string]Position{}
	}
	s.workAt[key] = at
}

// transition is a state's name or {to, added}.
func (r *reader) transition(n ast.Node) Transition {
	t := Transition{at: r.at(n)}
	if _, ok := text(n); ok {
		r.text(&t.To)(n)
		return t
	}
	r.object(n, map[string]setter{"to": r.text(&t.To), "added": r.text(&t.Added)})
	return t
}

func (r *reader) rule(n ast.Node) Rule {
	rule := Rule{at: r.at(n)}
	r.object(n, map[string]setter{
		"name":     r.text(&rule.Name),
		"when":     r.guard(&rule.When),
		"to":       r.names(&rule.To, &rule.toAt),
		"stay":     r.stay(&rule.Stay),
		"escalate": r.flag(&rule.Escalate),
		"set":      func(n ast.Node) { r.set(n, &rule) },
		"fresh":    r.flag(&rule.ResetsFailures),
		"reason":   r.text(&rule.Reason),
		"failure":  r.flag(&rule.Failure),
		"resumes":  r.flag(&rule.Resumes),
	})
	return rule
}

// stay reads now, signal, a duration or ${policy.NAME}; a duration as Go prints it.
func (r *reader) stay(to *Stay) setter {
	return func(n ast.Node) {
		r.text(&to.Source)(n)
		to.at = r.at(n)
		if d, err := time.ParseDuration(to.Source); err == nil {
			to.Source = d.String()
		}
	}
}

func (r *reader) set(n ast.Node, rule *Rule) {
	rule.Set, rule.setAt = map[string]string{}, map[string]Position{}
	r.entries(n, func(name string, at Position, value ast.Node) {
		if v, ok := r.scalar(value); ok {
			rule.Set[name], rule.setAt[name] = fmt.Sprint(v), at
		}
	})
}

// reaction is what a signal does: a state's name, or a list of rules.
func (r *reader) reaction(n ast.Node) []Rule {
	if _, ok := n.(*ast.SequenceNode); !ok {
		rule := Rule{at: r.at(n)}
		if r.names(&rule.To, &rule.toAt)(n); rule.To == nil {
			return nil
		}
		return []Rule{rule}
	}
	var rules []Rule
	r.list(func(n ast.Node) { rules = append(rules, r.rule(n)) })(n)
	return rules
}

func (r *reader) inquiry(n ast.Node) Inquiry {
	q := Inquiry{at: r.at(n)}
	r.object(n, map[string]setter{"when": r.guard(&q.When), "to": r.text(&q.To), "text": r.text(&q.Text)})
	return q
}

func (r *reader) spawn(n ast.Node) Spawn {
	s := Spawn{at: r.at(n)}
	r.object(n, map[string]setter{
		"when":     r.guard(&s.When),
		"workflow": r.text(&s.Workflow),
		"state":    r.text(&s.State),
		"reason":   r.text(&s.Reason),
	})
	return s
}
