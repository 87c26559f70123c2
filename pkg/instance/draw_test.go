package instance_test

import (
	"maps"
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// dice choose one of n, from 0.
type dice func(label string, n int) int

func drawn(t *rapid.T) dice {
	return func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
}

// read throws what the bytes say, a byte at a time, and then nothing but zeros.
func read(data *[]byte) dice {
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

// some is none, one or two of the given.
func some[T any](d dice, label string, of ...T) []T {
	var some []T
	for range d("how many "+label, 3) {
		some = append(some, one(d, label, of...))
	}
	return some
}

// sensible is what somebody who knows the instance would do next.
func sensible(d dice, s *story) instance.Action {
	switch {
	case !s.in.Exists():
		return instance.Open{Issue: instance.Issue{Title: "bug", Author: "ann", Labels: some(d, "label", "bug", "docs")}, Base: one(d, "base", "", "h0"),
			State: one(d, "entry", append(s.def.Entries, "", "")...), Vars: vars(d, s.def), After: some(d, "after", "o1", "o2")}
	case s.in.Paused && one(d, "wake", true, false):
		return instance.Resume{Reason: "go on"}
	case s.in.Paused && s.in.Kind == workflow.Work:
		return instance.Override{To: one(d, "to", s.def.StateNames()...), Reason: "meanwhile"}
	case s.in.Worker() != "" && s.in.Parked != nil && one(d, "look", true, false):
		return instance.Wake{Until: s.in.Parked.Until}
	case s.in.Parked != nil && one(d, "push", true, false, false):
		return instance.Retry{Reason: "now"}
	case slices.ContainsFunc(s.in.Links, func(l instance.Link) bool { return !l.Ended }) && one(d, "link", true, false, false):
		return ending(d, s)
	case s.in.Worker() == "" && len(s.in.Escalations) > 0 && one(d, "people", true, false):
		if one(d, "force", true, false, false) {
			return instance.Override{To: one(d, "to", s.def.StateNames()...), Reason: "never mind"}
		}
		return instance.Resolve{Text: "go on"}
	case s.in.Worker() == "" || s.in.Parked != nil:
		row, _ := s.def.State(s.in.State)
		heard := []string{"commented"}
		for name := range row.On {
			heard = append(heard, name)
		}
		slices.Sort(heard) // the same draw is the same signal
		return instance.Signal{Name: one(d, "signal", heard...), Data: map[string]string{"permission": one(d, "permission", "write", "read")}}
	case s.in.Direct && !s.in.Claim.Live(s.now) && one(d, "lapse", true, true, false):
		return instance.Lapse{Work: s.in.Work}
	case s.in.Claim.Live(s.now):
		switch one(d, "interlude", "", "", "", "", "fault", "ask", "beat", "inquire", "escalate", "news") {
		case "inquire":
			return instance.Inquire{Token: s.in.Claim.Token, Questions: inquiries(d, s), Head: one(d, "head", "", "h1"), Sections: written(d, s)}
		case "escalate":
			return instance.Escalate{Token: s.in.Claim.Token, Reason: "help", RequiresHuman: one(d, "human", true, true, false), Head: one(d, "head", "", "h1"), Sections: written(d, s)}
		case "news":
			return instance.Signal{Name: "go", Data: vars(d, s.def)}
		case "fault":
			return instance.Fail{Token: s.in.Claim.Token, Reason: "disk"}
		case "ask":
			return instance.Ask{Token: s.in.Claim.Token, Text: "how?"}
		case "beat":
			return instance.Heartbeat{Token: s.in.Claim.Token, Lease: 2 * lease}
		}
		return instance.Report{Token: s.in.Claim.Token, Result: soundResult(d, s)}
	}
	return instance.Claim{Role: s.in.Worker(), Agent: one(d, "agent", "a1", "a2"), Work: s.in.Work, Lease: lease}
}

// vars is some values that the lifecycle has vars for.
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

// bad is vars, one of which may be none.
func bad(d dice, vars map[string]string) map[string]string {
	if name := one(d, "bad var", "n", "b", "none", ""); name != "" {
		vars = maps.Clone(vars)
		if vars == nil {
			vars = map[string]string{}
		}
		vars[name] = "x"
	}
	return vars
}

func ending(d dice, s *story) instance.Action {
	end := instance.End{Instance: one(d, "ended", "o1", "o2", "o3"), State: one(d, "ended in", "done", "lost"), Well: one(d, "well", true, true, false)}
	if n := len(s.in.Links); n > 0 && one(d, "linked", true, true, false) {
		end.Instance = s.in.Links[d("which", n)].Instance
	}
	return end
}

func inquiries(d dice, s *story) []instance.Inquiry {
	var all []instance.Inquiry
	for range 1 + d("more questions", 2) {
		all = append(all, instance.Inquiry{To: one(d, "asked", append(s.def.Roles(), "stranger")...), Question: one(d, "inquiry", "which?", "which?", "which?", " ")})
	}
	return all[d("questions", 8)/7:]
}

// soundResult is one that can be taken.
func soundResult(d dice, s *story) instance.Result {
	head := one(d, "head", "", "h1", "h2")
	r := instance.Result{
		Status:          one(d, "status", instance.Success, instance.Failure, instance.Success, instance.Blocked),
		ConfidenceScore: one(d, "confidence", 0.95, 0.85, 0.81, 0.9, 0.91, 0.8, 1, 0),
		IssuesFound:     some(d, "issue", "slow", "ugly"), Questions: some(d, "question", "which?", "why?"), Head: head, Base: one(d, "base", "", "", "h0", "h9"),
		FailureSignature: one(d, "signature", "", "f1", "f2", "f3"),
		Summary:          "so",
		Next:             one(d, "next", "", "", "", "limbo", one(d, "proposal", s.def.StateNames()...)),
		Spend:            instance.Cost{TokensIn: one(d, "tokens", int64(0), 60), USD: one(d, "usd", 0, 0.75), WallMS: one(d, "wall", int64(0), 900)},
	}
	r.Data = vars(d, s.def)
	if r.Data != nil {
		r.Data["k"] = one(d, "data", "", "v")
	}
	r.Sections = written(d, s)
	for _, n := range some(d, "answers", -1, 1, 2, 3) {
		r.Answers = append(r.Answers, instance.QuestionAnswer{Question: n, Text: "so"})
	}
	for _, ok := range some(d, "tests", true, false) {
		r.Evidence = append(r.Evidence, instance.Evidence{Name: one(d, "check", "tests", "tests", "lint"), OK: ok, Commit: one(d, "tested", head, s.in.Head, "h1")})
	}
	return r
}

// written is a section of the owner's, if there is one and it is its turn.
func written(d dice, s *story) map[string]string {
	if row, _ := s.def.State(s.in.State); len(row.Writes) > 0 && s.in.Worker() == row.Owner {
		return map[string]string{row.Writes[0]: one(d, "section", "{}", "[1]")}
	}
	return nil
}

// flawed is a section of anybody's that may be no JSON.
func flawed(d dice) map[string]string {
	return map[string]string{one(d, "of", "doc1", "doc2"): one(d, "bad section", "{", "{}")}
}

// anything is any command, by anybody, at its right place or not.
func anything(d dice, s *story) instance.Action {
	token := one(d, "token", s.in.Tokens, s.in.Tokens, s.in.Tokens, s.in.Tokens-1, s.in.Tokens+1, 0)
	held := one(d, "lease", lease, time.Second, 0, -time.Second)
	text := one(d, "text", "so", "so", "")
	switch one(d, "action", "take", "heartbeat", "fail", "ask", "charge", "pause", "release", "signal", "override", "report", "reply", "retry", "inquire", "escalate", "resolve", "expire", "wake", "end", "migrate", "resume", "remark", "cancel", "open", "lapse", "nothing") {
	case "open":
		return instance.Open{Issue: instance.Issue{Title: text}, State: one(d, "state", append(s.def.StateNames(), "", "limbo")...),
			Vars: bad(d, vars(d, s.def)), After: some(d, "after", "o1", s.in.ID, "")}
	case "inquire":
		return instance.Inquire{Token: token, Questions: inquiries(d, s), Sections: one(d, "sections", written(d, s), flawed(d))}
	case "escalate":
		return instance.Escalate{Token: token, Reason: text, RequiresHuman: one(d, "human", true, false), Sections: one(d, "sections", written(d, s), flawed(d))}
	case "resolve":
		return instance.Resolve{Number: d("number", 5) - 1, Text: text}
	case "expire":
		return instance.Expire{Entered: one(d, "entered", s.in.Entered, s.in.Entered, s.in.Entered, s.in.Seq), Level: one(d, "level", workflow.Warning, workflow.Alert, workflow.Escalation, "")}
	case "wake":
		until := one(d, "until", s.now, time.Time{})
		if s.in.Parked != nil {
			until = one(d, "parked", s.in.Parked.Until, s.in.Parked.Until, until)
		}
		return instance.Wake{Until: until}
	case "end":
		return ending(d, s)
	case "migrate":
		return instance.Migrate{Reason: text}
	case "take":
		return instance.Claim{
			Role: one(d, "role", append(s.def.Roles(), s.in.Worker(), s.in.Worker(), s.in.Owner, "", "stranger")...), Agent: one(d, "agent", "a1", "a2", ""),
			Work: one(d, "work", s.in.Work, s.in.Work, s.in.Work-1, s.in.Seq, 0), Lease: held,
		}
	case "lapse":
		return instance.Lapse{Work: one(d, "lapsed", s.in.Work, s.in.Work, s.in.Work, s.in.Work-1, s.in.Seq)}
	case "heartbeat":
		return instance.Heartbeat{Token: token, Lease: held}
	case "report":
		r := soundResult(d, s)
		switch one(d, "flaw", "none", "none", "status", "confidence", "question", "cost", "summary", "section", "value") {
		case "summary":
			r.Summary = " "
		case "section":
			r.Sections = flawed(d)
		case "value":
			r.Data = bad(d, r.Data)
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
		return instance.Release{Token: token, Reason: text}
	case "fail":
		return instance.Fail{Token: token, Reason: text}
	case "signal":
		return instance.Signal{
			Name: one(d, "signal", "commented", "blocked", "abandoned", "go", "", "claimed", "ended", "timeout_alert"), Data: map[string]string{one(d, "key", "body", "operator", "b", "n"): "true"},
			Evidence: some(d, "snapshot", instance.Evidence{Name: "tests", Verdict: instance.VerdictPending, Data: map[string]string{"k": "v"}}, instance.Evidence{Name: "lint", OK: true}),
		}
	case "ask":
		return instance.Ask{Token: token, Text: text}
	case "reply":
		return instance.Answer{Number: d("number", 7) - 1, Text: text}
	case "remark":
		return instance.Note{Kind: "comment", Text: text}
	case "charge":
		return instance.Spend{Token: token, Spend: instance.Cost{USD: one(d, "usd", 0.5, 0, -1, math.NaN()), TokensOut: one(d, "tokens", int64(70), -1)}}
	case "override":
		return instance.Override{To: one(d, "to", append(s.def.StateNames(), "", "limbo")...), Reason: text}
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
