package instance_test

import (
	"maps"
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// dice choose a number from 0 to n-1.
type dice func(label string, n int) int

func diceFromRapid(t *rapid.T) dice {
	return func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
}

// diceFromBytes reads one choice from each byte, and zeros after the last.
func diceFromBytes(data *[]byte) dice {
	return func(_ string, n int) int {
		if len(*data) == 0 {
			return 0
		}
		b := (*data)[0]
		*data = (*data)[1:]
		return int(b) % n
	}
}

func one[T any](d dice, label string, of ...T) T { return of[d(label, len(of))] }

// some chooses none, one or two.
func some[T any](d dice, label string, of ...T) []T {
	var some []T
	for range d("how many "+label, 3) {
		some = append(some, one(d, label, of...))
	}
	return some
}

// plausibleCommand draws a command that is likely to be accepted next.
func plausibleCommand(d dice, s *fixture) instance.Action {
	switch {
	case !s.in.Exists():
		return instance.Open{Issue: instance.Issue{Title: "bug", Author: "ann", Labels: some(d, "label", "bug", "docs")},
			Base:  one(d, "base", "", "h0"),
			State: one(d, "entry", append(s.def.Entries, "", "")...), Vars: vars(d, s.def), After: some(d, "after", "o1", "o2")}
	case s.in.Paused && one(d, "wake", true, false):
		return instance.Resume{Reason: "go on"}
	case s.in.Paused && s.in.Kind == workflow.Work:
		return instance.Override{To: one(d, "to", s.def.StateNames()...), Reason: "meanwhile"}
	case s.in.Worker() != "" && s.in.Parked != nil && one(d, "look", true, false):
		return instance.Wake{Until: s.in.Parked.Until}
	case s.in.WaitsFor() != "" && one(d, "admit", true, false):
		return instance.Admit{Work: s.in.Work}
	case s.in.Parked != nil && one(d, "push", true, false, false):
		return instance.Retry{Reason: "now"}
	case slices.ContainsFunc(s.in.Links, func(l instance.Link) bool { return !l.Ended }) && one(d, "link", true, false, false):
		return endOfLink(d, s)
	case s.in.Worker() == "" && len(s.in.Escalations) > 0 && one(d, "people", true, false):
		if one(d, "force", true, false, false) {
			return instance.Override{To: one(d, "to", s.def.StateNames()...), Reason: "never mind"}
		}
		return instance.Resolve{Text: "go on"}
	case s.in.Worker() == "" || s.in.Parked != nil:
		row, _ := s.def.State(s.in.State)
		signals := []string{"commented"}
		for name := range row.On {
			signals = append(signals, name)
		}
		slices.Sort(signals) // the draw does not depend on map order
		return instance.Signal{Name: one(d, "signal", signals...), Data: map[string]string{"permission": one(d, "permission", "write", "read")}}
	case s.in.Direct && !s.in.Claim.Live(s.now) && one(d, "lapse", true, true, false):
		return instance.Lapse{Work: s.in.Work}
	case s.in.Claim != nil && one(d, "prolong", false, false, false, false, false, true):
		return instance.Prolong{Token: s.in.Claim.Token, Lease: 2 * lease}
	case s.in.Claim.Live(s.now):
		switch one(d, "interlude", "", "", "", "", "fault", "ask", "beat", "inquire", "escalate", "news") {
		case "inquire":
			return instance.Inquire{Token: s.in.Claim.Token, Questions: inquiries(d, s), Head: one(d, "head", "", "h1"), Sections: ownSections(d, s)}
		case "escalate":
			return instance.Escalate{Token: s.in.Claim.Token, Reason: "help", RequiresHuman: one(d, "human", true, true, false),
				Head: one(d, "head", "", "h1"), Sections: ownSections(d, s)}
		case "news":
			return instance.Signal{Name: "go", Data: vars(d, s.def)}
		case "fault":
			return instance.Fail{Token: s.in.Claim.Token, Reason: "disk", Until: one(d, "until", time.Time{}, s.now.Add(time.Second), s.now.Add(time.Hour))}
		case "ask":
			return instance.Ask{Token: s.in.Claim.Token, Text: "how?"}
		case "beat":
			return instance.Heartbeat{Token: s.in.Claim.Token, Lease: 2 * lease}
		}
		return instance.Report{Token: s.in.Claim.Token, Result: validResult(d, s)}
	}
	if one(d, "spent", false, false, false, false, true) {
		return instance.Hold{Work: s.in.Work, For: instance.ForBudget, Until: s.now.Add(time.Hour), Reason: "all is spent"}
	}
	return instance.Claim{Role: s.in.Worker(), Agent: one(d, "agent", "a1", "a2"), Work: s.in.Work, Lease: lease}
}

// vars draws values for some vars of the lifecycle.
func vars(d dice, def *workflow.Definition) map[string]string {
	set := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(def.Vars)) {
		switch def.Vars[name].(type) {
		case bool:
			set[name] = one(d, name, "true", "false")
		case int64:
			set[name] = one(d, name, "0", "1", "2")
		default:
			set[name] = one(d, name, "", "x")
		}
		if one(d, "without "+name, true, false) {
			delete(set, name)
		}
	}
	return set
}

// badVars returns vars, one of which may have the wrong type or be undeclared.
func badVars(d dice, vars map[string]string) map[string]string {
	if name := one(d, "bad var", "n", "b", "none", ""); name != "" {
		vars = maps.Clone(vars)
		if vars == nil {
			vars = map[string]string{}
		}
		vars[name] = "x"
	}
	return vars
}

func endOfLink(d dice, s *fixture) instance.Action {
	end := instance.End{Instance: one(d, "ended", "o1", "o2", "o3"), State: one(d, "ended in", "done", "lost"),
		Well: one(d, "well", true, true, false)}
	if n := len(s.in.Links); n > 0 && one(d, "linked", true, true, false) {
		end.Instance = s.in.Links[d("which", n)].Instance
	}
	return end
}

func inquiries(d dice, s *fixture) []instance.Inquiry {
	var all []instance.Inquiry
	for range 1 + d("more questions", 2) {
		all = append(all, instance.Inquiry{To: one(d, "asked", append(s.def.Roles(), "stranger")...),
			Question: one(d, "inquiry", "which?", "which?", "which?", " ")})
	}
	return all[d("questions", 8)/7:]
}

// validResult draws a result that no check refuses.
func validResult(d dice, s *fixture) instance.Result {
	head := one(d, "head", "", "h1", "h2")
	r := instance.Result{
		Status:          one(d, "status", instance.Success, instance.Failure, instance.Success, instance.Blocked),
		ConfidenceScore: one(d, "confidence", 0.95, 0.85, 0.81, 0.9, 0.91, 0.8, 1, 0),
		IssuesFound:     some(d, "issue", "slow", "ugly"), Questions: some(d, "question", "which?", "why?"), Head: head,
		Base:             one(d, "base", "", "", "h0", "h9"),
		FailureSignature: one(d, "signature", "", "f1", "f2", "f3"),
		Summary:          "so",
		Unjudged:         one(d, "unjudged", false, false, false, false, false, false, true),
		Next:             one(d, "next", "", "", "", "limbo", one(d, "proposal", s.def.StateNames()...)),
		Spend: instance.Cost{TokensIn: one(d, "tokens", int64(0), 60), USD: one(d, "usd", 0, 0.75),
			WallMS: one(d, "wall", int64(0), 900)},
	}
	r.Data = vars(d, s.def)
	if r.Data != nil {
		r.Data["k"] = one(d, "data", "", "v")
	}
	r.Sections = ownSections(d, s)
	for _, n := range some(d, "answers", -1, 1, 2, 3) {
		r.Answers = append(r.Answers, instance.QuestionAnswer{Question: n, Text: "so"})
	}
	for _, ok := range some(d, "tests", true, false) {
		r.Evidence = append(r.Evidence, instance.Evidence{Name: one(d, "check", "tests", "tests", "lint"), OK: ok,
			Commit: one(d, "tested", head, s.in.Head, "h1")})
	}
	return r
}

// ownSections draws a section that the owner of the state may write, if it works next.
func ownSections(d dice, s *fixture) map[string]string {
	if row, _ := s.def.State(s.in.State); len(row.Writes) > 0 && s.in.Worker() == row.Owner {
		return map[string]string{row.Writes[0]: one(d, "section", "{}", "[1]")}
	}
	return nil
}

// badSections draws a section that the claim's role may not write, or that is not JSON.
func badSections(d dice) map[string]string {
	return map[string]string{one(d, "of", "doc1", "doc2"): one(d, "bad section", "{", "{}")}
}

// arbitraryCommand draws any command, permitted or not.
func arbitraryCommand(d dice, s *fixture) instance.Action {
	token := one(d, "token", s.in.Tokens, s.in.Tokens, s.in.Tokens, s.in.Tokens-1, s.in.Tokens+1, 0)
	held := one(d, "lease", lease, time.Second, 0, -time.Second)
	text := one(d, "text", "so", "so", "")
	switch one(d, "action", "claim", "heartbeat", "fail", "ask", "spend", "pause", "release", "signal", "override", "report", "answer",
		"retry", "inquire", "escalate", "resolve", "expire", "wake", "end", "migrate", "resume", "reopen", "note", "cancel", "open", "lapse", "prolong", "hold", "admit", "nothing") {
	case "open":
		return instance.Open{Issue: instance.Issue{Title: text}, State: one(d, "state", append(s.def.StateNames(), "", "limbo")...),
			Vars: badVars(d, vars(d, s.def)), After: some(d, "after", "o1", s.in.ID, "")}
	case "inquire":
		return instance.Inquire{Token: token, Questions: inquiries(d, s), Sections: one(d, "sections", ownSections(d, s), badSections(d))}
	case "escalate":
		return instance.Escalate{Token: token, Reason: text, RequiresHuman: one(d, "human", true, false),
			Sections: one(d, "sections", ownSections(d, s), badSections(d))}
	case "resolve":
		return instance.Resolve{Number: d("number", 5) - 1, Text: text}
	case "expire":
		return instance.Expire{Entered: one(d, "entered", s.in.Entered, s.in.Entered, s.in.Entered, s.in.Seq),
			Level: one(d, "level", workflow.Warning, workflow.Alert, workflow.Escalation, "")}
	case "wake":
		until := one(d, "until", s.now, time.Time{})
		if s.in.Parked != nil {
			until = one(d, "parked", s.in.Parked.Until, s.in.Parked.Until, until)
		}
		return instance.Wake{Until: until}
	case "end":
		return endOfLink(d, s)
	case "migrate":
		return instance.Migrate{Reason: text}
	case "claim":
		return instance.Claim{
			Role:  one(d, "role", append(s.def.Roles(), s.in.Worker(), s.in.Worker(), s.in.Owner, "", "stranger")...),
			Agent: one(d, "agent", "a1", "a2", ""),
			Work:  one(d, "work", s.in.Work, s.in.Work, s.in.Work-1, s.in.Seq, 0), Lease: held,
		}
	case "lapse":
		return instance.Lapse{Work: one(d, "lapsed", s.in.Work, s.in.Work, s.in.Work, s.in.Work-1, s.in.Seq)}
	case "hold":
		return instance.Hold{Work: one(d, "held", s.in.Work, s.in.Work, s.in.Work, s.in.Work-1, s.in.Seq),
			For: one(d, "for", instance.ForPlace, instance.ForBudget), Until: one(d, "until", time.Time{}, s.now, s.now.Add(time.Minute)), Reason: text}
	case "admit":
		return instance.Admit{Work: one(d, "admitted", s.in.Work, s.in.Work, s.in.Work, s.in.Work-1, s.in.Seq)}
	case "heartbeat":
		return instance.Heartbeat{Token: token, Lease: held}
	case "prolong":
		return instance.Prolong{Token: token, Lease: held}
	case "report":
		r := validResult(d, s)
		switch one(d, "flaw", "none", "none", "status", "confidence", "question", "cost", "summary", "section", "value") {
		case "summary":
			r.Summary = " "
		case "section":
			r.Sections = badSections(d)
		case "value":
			r.Data = badVars(d, r.Data)
		case "status":
			r.Status = one(d, "bad status", "", instance.Status("done"))
		case "confidence":
			r.ConfidenceScore = one(d, "bad confidence", -0.1, 1.1, math.NaN(), math.Inf(1))
		case "question":
			r.Questions = append(r.Questions, "")
		case "cost":
			r.Spend.USD = one(d, "bad cost", -1, math.NaN(), math.Inf(1))
		}
		return instance.Report{Token: token, Result: r}
	case "release":
		return instance.Release{Token: token, Reason: text, Head: one(d, "head", "", "h1"),
			Sections: one(d, "sections", nil, ownSections(d, s), badSections(d))}
	case "fail":
		return instance.Fail{Token: token, Reason: text}
	case "signal":
		return instance.Signal{
			Name: one(d, "signal", "commented", "blocked", "abandoned", "go", "", "claimed", "ended", "timeout_alert"),
			Data: map[string]string{one(d, "key", "body", "operator", "b", "n"): "true"},
			Evidence: some(d, "snapshot", instance.Evidence{Name: "tests", Verdict: instance.VerdictPending, Data: map[string]string{"k": "v"}},
				instance.Evidence{Name: "lint", OK: true}),
		}
	case "ask":
		return instance.Ask{Token: token, Text: text}
	case "answer":
		return instance.Answer{Number: d("number", 7) - 1, Text: text}
	case "note":
		return instance.Note{Kind: "comment", Text: text}
	case "spend":
		return instance.Spend{Token: token,
			Spend: instance.Cost{USD: one(d, "usd", 0.5, 0, -1, math.NaN()), TokensOut: one(d, "tokens", int64(70), -1)}}
	case "override":
		return instance.Override{To: one(d, "to", append(s.def.StateNames(), "", "limbo")...), Reason: text}
	case "reopen":
		return instance.Reopen{To: one(d, "again", append(s.def.StateNames(), "", "", "limbo")...), Reason: text}
	case "pause":
		return instance.Pause{Reason: text}
	case "resume":
		return instance.Resume{Reason: text}
	case "cancel":
		return instance.Cancel{Reason: text}
	case "retry":
		return instance.Retry{Reason: text}
	}
	return nil
}
