package instance_test

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// refuses returns the code that a command is refused with before it is applied, or
// "". def is the definition that the command is decided under.
func (m model) refuses(def *workflow.Definition, cmd instance.Command) instance.Code {
	if cmd.ID == "" || cmd.Instance == "" || cmd.Do == nil {
		return instance.CodeInvalid
	}
	if open, ok := cmd.Do.(instance.Open); ok {
		return firstReason(
			check{len(m.path) > 0, instance.CodeExists},
			check{open.Issue.Title == "" || open.State != "" && open.State != def.Initial && !slices.Contains(def.Entries, open.State),
				instance.CodeInvalid},
			check{!validVars(def, open.Vars, true), instance.CodeInvalid},
			check{slices.Contains(open.After, "") || slices.Contains(open.After, cmd.Instance), instance.CodeInvalid})
	}
	if len(m.path) == 0 {
		return instance.CodeUnknownInstance
	}
	switch a := cmd.Do.(type) {
	case instance.Note:
		return ""
	case instance.Signal:
		own := strings.HasPrefix(a.Name, "timeout_") || a.Name == "claimed" || a.Name == "ended"
		return firstReason(check{a.Name == "" || own, instance.CodeInvalid}, check{isAgent(cmd.Actor), instance.CodeForbidden})
	case instance.End:
		i := slices.IndexFunc(m.links, func(l instance.Link) bool { return l.Instance == a.Instance })
		return firstReason(check{i < 0, instance.CodeInvalid}, check{i >= 0 && m.links[max(i, 0)].Ended, instance.CodeStale})
	}
	if a, ok := cmd.Do.(instance.Reopen); ok {
		row, known := m.def.State(a.To)
		return firstReason(check{m.forbidden("reopen", cmd.Actor), instance.CodeForbidden},
			check{m.closed() == "", instance.CodeInvalid},
			check{a.To == "" && m.ended && !m.cancelled && !m.lastFailed, instance.CodeInvalid},
			check{a.To != "" && (!known || row.Kind == workflow.Final), instance.CodeInvalid})
	}
	if m.closed() != "" {
		return instance.CodeClosed
	}
	switch a := cmd.Do.(type) {
	case instance.Claim:
		return firstReason(
			check{m.paused || m.openEscalation() > 0, instance.CodePaused},
			check{a.Role == "" || a.Agent == "" || a.Lease <= 0, instance.CodeInvalid},
			check{a.Role != m.worker(), instance.CodeNotOwner},
			check{m.parked != nil || a.Work != m.dispatched, instance.CodeStale},
			check{m.live(), instance.CodeHeld})
	case instance.Lapse:
		return firstReason(
			check{!m.direct || a.Work != m.dispatched, instance.CodeStale},
			check{m.live(), instance.CodeHeld},
			check{m.paused || m.parked != nil || m.worker() == "", instance.CodePaused})
	case instance.Hold:
		return firstReason(
			check{a.Work != m.dispatched, instance.CodeStale},
			check{!a.Until.IsZero() && !a.Until.After(m.now), instance.CodeInvalid},
			check{m.live(), instance.CodeHeld},
			check{m.paused || m.parked != nil || m.worker() == "" || m.openInquiry() > 0, instance.CodePaused})
	case instance.Admit:
		return firstReason(
			check{a.Work != m.dispatched || m.parked == nil || m.parked.WaitsFor == "", instance.CodeStale},
			check{m.live(), instance.CodeHeld},
			check{m.paused || m.worker() == "" || m.openInquiry() > 0, instance.CodePaused})
	case instance.Heartbeat:
		return firstReason(check{a.Lease <= 0, instance.CodeInvalid}, check{true, m.checkToken(a.Token)})
	case instance.Prolong:
		return firstReason(check{m.claim == nil || m.claim.Token != a.Token, instance.CodeStale},
			check{m.claim != nil && !m.now.Add(a.Lease).After(m.claim.Lease), instance.CodeStale})
	case instance.Report:
		return firstReason(check{true, m.checkToken(a.Token)}, check{!m.valid(a.Result), instance.CodeInvalid})
	case instance.Release:
		return firstReason(check{true, m.checkToken(a.Token)}, check{!m.writes(a.Sections), instance.CodeInvalid})
	case instance.Fail:
		return m.checkToken(a.Token)
	case instance.Spend:
		return firstReason(check{true, m.checkToken(a.Token)}, check{!validCost(a.Spend), instance.CodeInvalid})
	case instance.Expire:
		due, level := m.deadline(a.Level)
		return firstReason(
			check{a.Entered != m.entered, instance.CodeStale},
			check{level == 0, instance.CodeInvalid},
			check{levelNumber(m.level) >= level, instance.CodeStale},
			check{m.now.Before(due), instance.CodeEarly})
	case instance.Wake:
		return firstReason(
			check{m.parked == nil || m.parked.Until.IsZero() || !m.parked.Until.Equal(a.Until), instance.CodeStale},
			check{m.now.Before(a.Until), instance.CodeEarly},
			check{m.paused || m.openEscalation() > 0, instance.CodePaused})
	case instance.Override:
		return firstReason(check{m.forbidden("override", cmd.Actor), instance.CodeForbidden},
			check{!slices.Contains(m.def.StateNames(), a.To) || a.Reason == "", instance.CodeInvalid},
			check{isAgent(cmd.Actor) && !slices.ContainsFunc(m.state().Next, func(n workflow.Transition) bool { return n.To == a.To }),
				instance.CodeNotPermitted})
	case instance.Pause:
		return firstReason(check{m.paused, instance.CodePaused}, check{m.forbidden("pause", cmd.Actor), instance.CodeForbidden})
	case instance.Resume:
		return firstReason(check{!m.paused, instance.CodeInvalid}, check{m.forbidden("resume", cmd.Actor), instance.CodeForbidden})
	case instance.Cancel:
		return firstReason(check{m.forbidden("cancel", cmd.Actor), instance.CodeForbidden})
	case instance.Retry:
		return firstReason(
			check{m.paused || m.openEscalation() > 0, instance.CodePaused},
			check{m.worker() == "", instance.CodeInvalid},
			check{m.live(), instance.CodeHeld},
			check{m.forbidden("retry", cmd.Actor), instance.CodeForbidden})
	case instance.Migrate:
		_, known := def.State(m.state().Name)
		return firstReason(
			check{def.Hash == m.def.Hash || def.Name != m.def.Name || !known, instance.CodeInvalid},
			check{(&model{def: def}).forbidden("migrate", cmd.Actor), instance.CodeForbidden},
			check{m.live(), instance.CodeHeld})
	case instance.Ask:
		return firstReason(check{true, m.checkToken(a.Token)}, check{a.Text == "", instance.CodeInvalid})
	case instance.Escalate:
		return firstReason(check{true, m.checkToken(a.Token)},
			check{strings.TrimSpace(a.Reason) == "" || !m.writes(a.Sections), instance.CodeInvalid})
	case instance.Inquire:
		if why := m.checkToken(a.Token); why != "" {
			return why
		}
		limit, ok := m.def.Policy["max_inquiries"].(int64)
		if !ok {
			limit = 20
		}
		asked := len(a.Questions)
		for _, q := range m.questions {
			if q.to != "" {
				asked++
			}
		}
		wrong := slices.ContainsFunc(a.Questions, func(q instance.Inquiry) bool {
			return strings.TrimSpace(q.Question) == "" || q.To == m.claim.Role || !slices.Contains(m.def.Roles(), q.To)
		})
		return firstReason(check{len(a.Questions) == 0 || int64(asked) > limit || wrong || !m.writes(a.Sections), instance.CodeInvalid})
	case instance.Answer:
		return firstReason(check{isAgent(cmd.Actor), instance.CodeForbidden},
			check{!m.answerable(a.Number), instance.CodeInvalid})
	case instance.Resolve:
		if a.Number == 0 {
			a.Number = m.openEscalation()
		}
		return firstReason(check{isAgent(cmd.Actor), instance.CodeForbidden},
			check{a.Number < 1 || a.Number > len(m.escalations) || !m.escalations[max(0, a.Number-1)].open, instance.CodeInvalid})
	}
	return ""
}

// check is one reason to refuse. An empty code is none.
type check struct {
	holds bool
	code  instance.Code
}

// firstReason returns the code of the first check that holds.
func firstReason(checks ...check) instance.Code {
	for _, c := range checks {
		if c.holds && c.code != "" {
			return c.code
		}
	}
	return ""
}

func (m model) checkToken(token uint64) instance.Code {
	if m.paused {
		return instance.CodePaused
	}
	return firstReason(check{!m.live() || m.claim.Token != token, instance.CodeLapsed})
}

func (m model) forbidden(what, actor string) bool {
	roles, listed := m.def.May[what]
	role, _, agent := strings.Cut(actor, "/")
	if !agent || strings.Contains(role, ":") {
		role = "human"
	}
	return !slices.Contains(roles, role) && (listed || role != "human")
}

func (m model) writes(sections map[string]string) bool {
	for name, text := range sections {
		if m.claim == nil || !json.Valid([]byte(text)) || !slices.ContainsFunc(m.def.States, func(s workflow.State) bool {
			return s.Owner == m.claim.Role && slices.Contains(s.Writes, name)
		}) {
			return false
		}
	}
	return true
}

func (m model) valid(r instance.Result) bool {
	status := slices.Contains([]instance.Status{"success", "failure", "blocked"}, r.Status)
	answers := m.openInquiry() == 0 || strings.TrimSpace(r.Summary) != ""
	return m.writes(r.Sections) && status && answers && 0 <= r.ConfidenceScore && r.ConfidenceScore <= 1 &&
		!slices.Contains(r.Questions, "") && validCost(r.Spend)
}

func validCost(s instance.Cost) bool {
	return s.TokensIn >= 0 && s.TokensOut >= 0 && s.WallMS >= 0 && s.USD >= 0 && s.USD < 1e300
}

// validVars reports whether the values are of their vars' types. Undeclared vars are
// valid unless all is set.
func validVars(def *workflow.Definition, vars map[string]string, all bool) bool {
	for name, text := range vars {
		_, known := def.Vars[name]
		if _, ok := def.Var(name, text); !ok && (known || all) {
			return false
		}
	}
	return true
}

// levelNumber returns the position of a level, from 1.
func levelNumber(l workflow.Level) int {
	return 1 + slices.Index([]workflow.Level{"warning", "alert", "escalation"}, l)
}

// deadline returns the time a level of the current stay is reached, and the level's
// number; 0: there is no such deadline.
func (m model) deadline(l workflow.Level) (time.Time, int) {
	at := map[workflow.Level]float64{"warning": 0.8, "alert": 1, "escalation": 1.5}[l]
	timeout := m.state().Timeout
	if timeout == 0 || at == 0 {
		return time.Time{}, 0
	}
	return m.since.Add(time.Duration(float64(timeout) * at)), levelNumber(l)
}
