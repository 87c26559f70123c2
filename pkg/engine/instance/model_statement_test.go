package instance_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// admit returns the result without what the role of the claim may not give.
func (m *model) admit(r instance.Result) instance.Result {
	role, asked := m.claim.Role, m.openInquiry() > 0
	r.Evidence = m.admitEvidence(role, m.claim.Agent, asked, r.Evidence)
	r.Data = m.admitVars(role, asked, r.Data)
	if !m.mayChange() {
		r.Head, r.Bundle = "", ""
	}
	var answers []instance.QuestionAnswer
	for _, a := range r.Answers {
		if m.mayGive(role, asked, "answers", "") {
			a.By = role // the answers that are drawn name nobody
			answers = append(answers, a)
		}
	}
	r.Answers = answers
	return r
}

func (m *model) admitEvidence(role, agent string, asked bool, all []instance.Evidence) []instance.Evidence {
	var admitted []instance.Evidence
	for _, e := range all {
		if m.mayGive(role, asked, "evidence", e.Name) {
			e.Role, e.Agent = strings.TrimPrefix(role, "human"), agent
			admitted = append(admitted, e)
		}
	}
	return admitted
}

func (m *model) admitVars(role string, asked bool, data map[string]string) map[string]string {
	data = maps.Clone(data)
	for name := range m.def.Vars {
		if !m.mayGive(role, asked, "variable", name) {
			delete(data, name)
		}
	}
	return data
}

// mayChange reports whether the claim's work may leave code.
func (m *model) mayChange() bool {
	s := m.spec(m.state(), m.claim.Role, m.openInquiry() > 0)
	return s.Runs != "tests" && s.Runs != "checks"
}

// spec returns the work of a role in a state.
func (m *model) spec(s workflow.State, role string, asked bool) workflow.WorkSpec {
	switch {
	case asked:
		return s.Answers[role]
	case role != "" && s.Owner == role:
		return s.Work
	}
	return workflow.WorkSpec{}
}

func (m *model) mayGive(role string, asked bool, kind, name string) bool {
	named, says := m.def.Named(kind, name)
	if says && !slices.Contains(named, role) {
		return false
	}
	someRun, itRuns, writes, reads, itReads := false, false, false, false, false
	for _, s := range m.def.States {
		all := map[string][]workflow.WorkSpec{s.Owner: {s.Work}}
		for asked, w := range s.Answers {
			all[asked] = append(all[asked], w)
		}
		for who, specs := range all {
			for _, w := range specs {
				someRun = someRun || makes(w, name)
				itRuns = itRuns || who == role && makes(w, name)
				writes = writes || who == role && (w.Change == "required" || w.Runs == "criteria")
			}
		}
		if strings.HasPrefix(s.Work.Does, "read_") {
			reads, itReads = true, itReads || s.Owner == role
		}
	}
	here := m.spec(m.state(), role, asked)
	switch {
	case kind == "evidence" && someRun && itRuns:
		return makes(here, name)
	case kind == "evidence" && someRun:
		return says
	case says:
		return kind != "answers" || !asked
	case kind == "answers" && reads:
		return !asked && itReads
	}
	return !writes
}

func makes(w workflow.WorkSpec, check string) bool {
	return slices.Contains(map[string][]string{
		"tests": {"tests"}, "checks": {"tests", "lint", "type_check", "build"}, "criteria": {"tests", "acceptance"},
	}[w.Runs], check)
}

// isAgent reports whether an actor is an agent of a role.
func isAgent(actor string) bool {
	role, _, agent := strings.Cut(actor, "/")
	return agent && !strings.Contains(role, ":")
}
