package attestation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Record is the input of a statement.
type Record struct {
	ID           string
	Commits      []instance.Commit // all of the instance
	Commit, Tree string
	Accounts     bool   // whether the server attests who sends
	Program      string // version of the program that signs
}

// Build returns the statement on a commit that the log has of an instance. It has nothing that is not in the log.
func Build(r Record) (Statement, error) {
	p := Predicate{Instance: r.ID, Steps: []Step{}, Accounts: r.Accounts, Program: r.Program}
	in := instance.Instance{ID: r.ID}
	evidence, known, program := map[string]instance.Evidence{}, false, ""
	for _, c := range r.Commits {
		in = instance.Evolve(in, c)
		known = known || in.Head == r.Commit
		for _, ev := range in.Evidence {
			if ev.Commit == r.Commit {
				evidence[ev.Name] = ev
			}
		}
		for _, e := range c.Events {
			if e, ok := e.(instance.Claimed); ok {
				program = e.Program
			}
			if e, ok := e.(instance.Answered); ok && byRole(in, c, e) {
				continue
			}
			p.add(c, e, in.Head, program)
		}
	}
	if !known || r.Commit == in.Base {
		return Statement{}, fmt.Errorf("%s: the work was never at commit %s", r.ID, r.Commit)
	}
	p.Repository, p.Base, p.Workflow, p.Definition = in.Repo(), in.Base, in.Workflow, in.Definition
	p.FirstSeq, p.LastSeq, p.At = r.Commits[0].Seq, in.Seq, in.UpdatedAt.UTC()
	p.Configuration = in.Issue.Configured().Hash
	var newest []instance.Evidence
	for _, ev := range evidence {
		newest = append(newest, ev)
	}
	slices.SortFunc(newest, func(a, b instance.Evidence) int { return strings.Compare(a.Name, b.Name) })
	for _, ev := range newest {
		p.Checks = append(p.Checks, Check{ev.Name, string(ev.EffectiveVerdict()), ev.Role, ev.Agent, ev.Passed, len(ev.Failed)})
	}
	p.addReviews(evidence[reviews], in.Seq)
	p.Proof = proof(instance.ProofOf(newest, in.Base, r.Commit))
	s := Statement{StatementType, []Subject{{map[string]string{gitCommit: r.Commit}}, {map[string]string{gitTree: r.Tree}}}, PredicateType, p}
	return s, s.check()
}

// add notes an event: a step of an agent with a program, or a decision of a person about the work at head.
func (p *Predicate) add(c instance.Commit, e instance.Event, head, program string) {
	person := func(what, by, permission string) {
		if by != "" && !strings.Contains(by, ":") {
			by = forge + by
		}
		p.People = append(p.People, Decision{c.Seq, what, by, head, permission})
	}
	switch e := e.(type) {
	case instance.Reported:
		step := Step{Seq: c.Seq, State: e.State, Role: e.Role, Agent: e.Agent, Program: program, Brain: e.Result.Spend.Brain,
			Status: string(e.Result.Status), Commit: e.Result.Head}
		for _, a := range e.Result.Artifacts {
			if strings.HasSuffix(a.Name, ".prompt") {
				step.Prompts = append(step.Prompts, a.SHA256)
			}
		}
		p.Steps = append(p.Steps, step)
	case instance.Signalled:
		if strings.HasPrefix(e.Actor, operator) || e.Data["permission"] != "" {
			person(e.Name, e.Actor, e.Data["permission"])
		}
	case instance.Answered:
		person("answered", e.By, "")
	case instance.Resolved:
		person("resolved", e.By, "")
	case instance.Moved:
		if e.Override {
			person("override", c.Actor, "")
		}
	}
}

// reviews is the evidence with the approvals of a pull request, by login: "approved 1234567 as maintain" counts, as
// pkg/forge/merge writes it; other texts are approvals that do not.
const reviews = "gate:approvals"

// addReviews adds the approvals of the newest look at the pull request, which is on the attested commit.
func (p *Predicate) addReviews(ev instance.Evidence, seq uint64) {
	for _, login := range slices.Sorted(maps.Keys(ev.Data)) {
		said := strings.Fields(ev.Data[login])
		if len(said) == 4 && said[0] == approved && said[2] == "as" && len(said[1]) >= 7 && strings.HasPrefix(ev.Commit, said[1]) {
			p.People = append(p.People, Decision{seq, approved, forge + login, ev.Commit, said[3]})
		}
	}
}

// byRole reports whether an agent answered for its role: a question that the role was asked, or in its own report.
func byRole(in instance.Instance, c instance.Commit, a instance.Answered) bool {
	if a.Number > 0 && a.Number <= len(in.Questions) && in.Questions[a.Number-1].To != "" {
		return true
	}
	return slices.ContainsFunc(c.Events, func(e instance.Event) bool {
		r, ok := e.(instance.Reported)
		return ok && r.Role == a.By
	})
}

// forge begins the name of a person of the forge. The log has the login alone.
const forge = "github:"

// operator begins the name of a person with an account of this system.
const operator = "operator:"

func proof(of instance.Proof) Proof {
	p := Proof{Shown: of.Shown, Reason: of.Reason, Waived: of.Waived}
	if !of.Judged {
		return p
	}
	j := of.Judgement
	base, change := Count(j.BaseCount), Count(j.ChangeCount)
	p.Base, p.Change, p.Broken, p.Flaky = &base, &change, j.Broken.Len(), len(j.Flaky)
	for _, t := range j.Tests {
		p.Tests = append(p.Tests, Test{t.Name, t.By, t.Base, t.Change})
	}
	return p
}
