package instance_test

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// refuses looks at everything but where the command would lead. def is the
// definition that the command is decided under.
func (m model) refuses(def *workflow.Definition, cmd instance.Command) instance.Code {
	if cmd.ID == "" || cmd.Instance == "" || cmd.Do == nil {
		return instance.CodeInvalid
	}
	if open, ok := cmd.Do.(instance.Open); ok {
		return verdict(
			check{len(m.path) > 0, instance.CodeExists},
			check{open.Issue.Title == "" || open.State != "" && open.State != def.Initial && !slices.Contains(def.Entries, open.State), instance.CodeInvalid},
			check{!typed(def, open.Vars, true), instance.CodeInvalid},
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
		return verdict(check{a.Name == "" || own, instance.CodeInvalid})
	case instance.End:
		i := slices.IndexFunc(m.links, func(l instance.Link) bool { return l.Instance == a.Instance })
		return verdict(check{i < 0, instance.CodeInvalid}, check{i >= 0 && m.links[max(i, 0)].Ended, instance.CodeStale})
	}
	if m.closed() != "" {
		return instance.CodeClosed
	}
	if why := m.talks(cmd); why != "" {
		return why
	}
	switch a := cmd.Do.(type) {
	case instance.Claim:
		return verdict(
			check{m.paused || m.held() > 0, instance.CodePaused},
			check{a.Role == "" || a.Agent == "" || a.Lease <= 0, instance.CodeInvalid},
			check{a.Role != m.worker(), instance.CodeNotOwner},
			check{m.parked != nil || a.Work != m.work, instance.CodeStale},
			check{m.live(), instance.CodeHeld})
	case instance.Lapse:
		return verdict(
			check{!m.direct || a.Work != m.work, instance.CodeStale},
			check{m.live(), instance.CodeHeld},
			check{m.paused || m.parked != nil || m.worker() == "", instance.CodePaused})
	case instance.Heartbeat:
		return verdict(check{a.Lease <= 0, instance.CodeInvalid}, check{true, m.fenced(a.Token)})
	case instance.Report:
		return verdict(check{true, m.fenced(a.Token)}, check{!m.sound(a.Result), instance.CodeInvalid})
	case instance.Release:
		return m.fenced(a.Token)
	case instance.Fail:
		return m.fenced(a.Token)
	case instance.Spend:
		return verdict(check{true, m.fenced(a.Token)}, check{!payable(a.Spend), instance.CodeInvalid})
	case instance.Expire:
		due, level := m.deadline(a.Level)
		return verdict(
			check{a.Entered != m.entered, instance.CodeStale},
			check{level == 0, instance.CodeInvalid},
			check{reached(m.level) >= level, instance.CodeStale},
			check{m.now.Before(due), instance.CodeEarly})
	case instance.Wake:
		return verdict(
			check{m.parked == nil || m.parked.Until.IsZero() || !m.parked.Until.Equal(a.Until), instance.CodeStale},
			check{m.now.Before(a.Until), instance.CodeEarly},
			check{m.paused || m.held() > 0, instance.CodePaused})
	case instance.Override:
		return verdict(check{m.mayNot("override", cmd.Actor), instance.CodeForbidden}, check{!slices.Contains(m.def.StateNames(), a.To) || a.Reason == "", instance.CodeInvalid})
	case instance.Pause:
		return verdict(check{m.paused, instance.CodePaused}, check{m.mayNot("pause", cmd.Actor), instance.CodeForbidden})
	case instance.Resume:
		return verdict(check{!m.paused, instance.CodeInvalid}, check{m.mayNot("resume", cmd.Actor), instance.CodeForbidden})
	case instance.Cancel:
		return verdict(check{m.mayNot("cancel", cmd.Actor), instance.CodeForbidden})
	case instance.Retry:
		return verdict(
			check{m.paused || m.held() > 0, instance.CodePaused},
			check{m.worker() == "", instance.CodeInvalid},
			check{m.live(), instance.CodeHeld},
			check{m.mayNot("retry", cmd.Actor), instance.CodeForbidden})
	case instance.Migrate:
		_, known := def.State(m.row().Name)
		return verdict(
			check{def.Hash == m.def.Hash || def.Name != m.def.Name || !known, instance.CodeInvalid},
			check{(&model{def: def}).mayNot("migrate", cmd.Actor), instance.CodeForbidden},
			check{m.live(), instance.CodeHeld})
	}
	return ""
}

// talks refuses what is said to people and to roles.
func (m model) talks(cmd instance.Command) instance.Code {
	switch a := cmd.Do.(type) {
	case instance.Ask:
		return verdict(check{true, m.fenced(a.Token)}, check{a.Text == "", instance.CodeInvalid})
	case instance.Escalate:
		return verdict(check{true, m.fenced(a.Token)}, check{strings.TrimSpace(a.Reason) == "" || !m.writes(a.Sections), instance.CodeInvalid})
	case instance.Inquire:
		if why := m.fenced(a.Token); why != "" {
			return why
		}
		most, ok := m.def.Policy["max_inquiries"].(int64)
		if !ok {
			most = 20
		}
		so := len(a.Questions)
		for _, q := range m.questions {
			if q.to != "" {
				so++
			}
		}
		wrong := slices.ContainsFunc(a.Questions, func(q instance.Inquiry) bool {
			return strings.TrimSpace(q.Question) == "" || q.To == m.claim.Role || !slices.Contains(m.def.Roles(), q.To)
		})
		return verdict(check{len(a.Questions) == 0 || int64(so) > most || wrong || !m.writes(a.Sections), instance.CodeInvalid})
	case instance.Answer:
		return verdict(check{!slices.Contains(m.open(), a.Number), instance.CodeInvalid})
	case instance.Resolve:
		if a.Number == 0 {
			a.Number = m.held()
		}
		return verdict(check{a.Number < 1 || a.Number > len(m.escalated) || !m.escalated[max(0, a.Number-1)].open, instance.CodeInvalid})
	}
	return ""
}

// check is one reason to refuse; it has none if why is empty.
type check struct {
	holds bool
	why   instance.Code
}

// verdict is the first reason there is.
func verdict(checks ...check) instance.Code {
	for _, c := range checks {
		if c.holds && c.why != "" {
			return c.why
		}
	}
	return ""
}

func (m model) fenced(token uint64) instance.Code {
	if m.paused {
		return instance.CodePaused
	}
	return verdict(check{!m.live() || m.claim.Token != token, instance.CodeLapsed})
}

func (m model) mayNot(what, actor string) bool {
	who, named := m.def.May[what]
	role, _, agent := strings.Cut(actor, "/")
	if !agent || strings.Contains(role, ":") {
		role = "human"
	}
	return named && !slices.Contains(who, role)
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

func (m model) sound(r instance.Result) bool {
	status := slices.Contains([]instance.Status{"success", "failure", "blocked"}, r.Status)
	answers := m.asked() == 0 || strings.TrimSpace(r.Summary) != ""
	return m.writes(r.Sections) && status && answers && 0 <= r.ConfidenceScore && r.ConfidenceScore <= 1 && !slices.Contains(r.Questions, "") && payable(r.Spend)
}

func payable(s instance.Cost) bool {
	return s.TokensIn >= 0 && s.TokensOut >= 0 && s.WallMS >= 0 && s.USD >= 0 && s.USD < 1e300
}

// typed reports whether values are of their vars' types, and whether there are such vars if all have to be.
func typed(def *workflow.Definition, vars map[string]string, all bool) bool {
	for name, text := range vars {
		_, known := def.Vars[name]
		if _, ok := def.Var(name, text); !ok && (known || all) {
			return false
		}
	}
	return true
}

// reached counts the levels up to one.
func reached(l workflow.Level) int {
	return 1 + slices.Index([]workflow.Level{"warning", "alert", "escalation"}, l)
}

// deadline is when a level of the present stay is reached; 0: never.
func (m model) deadline(l workflow.Level) (time.Time, int) {
	at := map[workflow.Level]float64{"warning": 0.8, "alert": 1, "escalation": 1.5}[l]
	timeout := m.row().Timeout
	if timeout == 0 || at == 0 {
		return time.Time{}, 0
	}
	return m.since.Add(time.Duration(float64(timeout) * at)), reached(l)
}
