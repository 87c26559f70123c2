package instance_test

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func (c *scriptLine) action(s *fixture) instance.Action {
	reason, token := c.key("reason", ""), c.count(c.key("token", ""), s.in.Tokens)
	switch c.verb {
	case "open":
		return instance.Open{Issue: instance.Issue{Title: c.key("title", ""), Author: c.key("author", "")}, Base: c.key("base", ""),
			State: c.key("state", ""), Vars: c.pairs("set"), After: c.all("after"), Parent: c.key("parent", "")}
	case "claim":
		return instance.Claim{Role: c.word(), Agent: c.word(), Work: c.count(c.key("work", ""), s.in.Work),
			Lease: c.duration(c.key("lease", "30s"))}
	case "lapse":
		return instance.Lapse{Work: c.count(c.key("work", ""), s.in.Work)}
	case "heartbeat":
		return instance.Heartbeat{Token: token, Lease: c.duration(c.key("lease", "30s"))}
	case "prolong":
		return instance.Prolong{Token: token, Lease: c.duration(c.key("lease", "30s"))}
	case "report":
		return instance.Report{Token: token, Result: c.result(s)}
	case "release":
		return instance.Release{Token: token, Reason: reason}
	case "fail":
		return instance.Fail{Token: token, Reason: reason}
	case "ask":
		return instance.Ask{Token: token, Text: c.word()}
	case "inquire":
		do := instance.Inquire{Token: token, Head: c.key("head", ""), Bundle: c.key("bundle", ""), Sections: c.pairs("section")}
		for len(c.words) > 0 {
			do.Questions = append(do.Questions, instance.Inquiry{To: c.word(), Question: c.word()})
		}
		return do
	case "escalate":
		return instance.Escalate{Token: token, Reason: c.word(), RequiresHuman: c.key("human", "") != "false",
			Head: c.key("head", ""), Bundle: c.key("bundle", ""), Sections: c.pairs("section")}
	case "resolve":
		return instance.Resolve{Number: int(c.count(c.key("number", ""), 0)), Text: c.word()}
	case "expire":
		return instance.Expire{Entered: c.count(c.key("entered", ""), s.in.Entered), Level: workflow.Level(c.word())}
	case "wake":
		until := s.now
		if s.in.Parked != nil {
			until = s.in.Parked.Until
		}
		if text := c.key("until", ""); text != "" {
			until = s.now.Add(c.duration(text))
		}
		return instance.Wake{Until: until}
	case "end":
		return instance.End{Instance: c.word(), State: c.word(), Well: c.key("well", "") != "false"}
	case "migrate":
		return instance.Migrate{Reason: reason}
	case "spend":
		return instance.Spend{Token: token, Spend: instance.Cost{USD: c.float(c.key("usd", "0"))}}
	case "signal":
		signal := instance.Signal{Name: c.word(), Ref: c.key("ref", ""), Data: map[string]string{}, Evidence: c.evidence(s)}
		for name := range c.keys {
			signal.Data[name] = c.key(name, "")
		}
		return signal
	case "answer":
		return instance.Answer{Number: int(c.count(c.word(), 0)), Text: c.word()}
	case "note":
		return instance.Note{Kind: c.word(), Text: c.word()}
	case "override":
		return instance.Override{To: c.word(), Reason: reason}
	case "reopen":
		return instance.Reopen{To: c.key("to", ""), Reason: reason}
	case "pause":
		return instance.Pause{Reason: reason}
	case "resume":
		return instance.Resume{Reason: reason}
	case "cancel":
		return instance.Cancel{Reason: reason}
	case "retry":
		return instance.Retry{Reason: reason}
	}
	c.Fatalf("%s: no such command", c.line)
	return nil
}

func (c *scriptLine) result(s *fixture) instance.Result {
	r := instance.Result{
		Status: instance.Status(c.word()), ConfidenceScore: c.float(c.key("confidence", "1")), Next: c.key("next", ""),
		Questions: c.all("question"), IssuesFound: c.all("issue"), Head: c.key("head", ""), Base: c.key("base", ""),
		Summary: c.key("summary", ""), Data: c.pairs("set"), Sections: c.pairs("section"), Evidence: c.evidence(s),
		FailureSignature: c.key("signature", ""), Spend: instance.Cost{USD: c.float(c.key("usd", "0"))},
	}
	for _, a := range c.all("answer") {
		number, text, _ := strings.Cut(a, ":")
		r.Answers = append(r.Answers, instance.QuestionAnswer{Question: int(c.count(number, 0)), Text: text, By: "ann"})
	}
	if tests := c.key("tests", ""); tests != "" {
		e := instance.Evidence{Name: "tests", OK: tests == "pass", Commit: s.in.Head, Command: "go test ./..."}
		if r.Head != "" {
			e.Commit = r.Head
		}
		if !e.OK {
			e.Failed = []string{tests}
		}
		r.Evidence = append(r.Evidence, e)
	}
	return r
}

// pairs returns the NAME:VALUE pairs of a key.
func (c *scriptLine) pairs(key string) map[string]string {
	var pairs map[string]string
	for _, text := range c.all(key) {
		if pairs == nil {
			pairs = map[string]string{}
		}
		name, value, _ := strings.Cut(text, ":")
		pairs[name] = value
	}
	return pairs
}

func (c *scriptLine) evidence(s *fixture) []instance.Evidence {
	var all []instance.Evidence
	for _, text := range c.all("check") {
		name, verdict, _ := strings.Cut(text, ":")
		all = append(all, instance.Evidence{Name: name, OK: verdict == "pass", Verdict: instance.Verdict(verdict), Commit: s.in.Head})
	}
	return all
}
