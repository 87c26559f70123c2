package effectcheck_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/testkit/effectcheck"
)

func TestAForgeThatIsAsTheLogSaysHasNoViolation(t *testing.T) {
	s := whole(t)
	r := effectcheck.Check(s.log, s.forge, find(t))
	for _, v := range r.Violations {
		t.Error(v)
	}
	want := map[string]int{"comments": 6, "replies": 1, "branches": 4, "pushes": 5, "pulls": 3, "merges": 1, "issues": 3}
	if !maps.Equal(r.Effects, want) {
		t.Errorf("checked %v, want %v", r.Effects, want)
	}
}

// Each kind of fault is planted alone, and the check finds it and nothing else.
func TestEveryPlantedFaultIsFound(t *testing.T) {
	without := func(id int64) func(s *fixture) {
		return func(s *fixture) {
			s.repo().Comments = slices.DeleteFunc(s.repo().Comments, func(c effectcheck.Comment) bool { return c.ID == id })
		}
	}
	add := func(c effectcheck.Comment) func(s *fixture) {
		return func(s *fixture) { s.repo().Comments = append(s.repo().Comments, c) }
	}
	for name, c := range map[string]struct {
		plant func(s *fixture)
		want  []effectcheck.Rule
	}{
		"a doubled comment":                       {add(comment(50, 1, repo+"/1", "questions-1")), []effectcheck.Rule{"doubled"}},
		"a doubled answer on the pull request":    {add(comment(50, 13, "US-1", "answer-1")), []effectcheck.Rule{"doubled"}},
		"a doubled reply on a line":               {func(s *fixture) { s.repo().Replies = append(s.repo().Replies, s.repo().Replies[1]) }, []effectcheck.Rule{"doubled"}},
		"a second comment on how it stands":       {add(comment(51, 1, repo+"/1", "status")), []effectcheck.Rule{"doubled"}},
		"one of them on another issue":            {add(comment(50, 2, repo+"/1", "status")), []effectcheck.Rule{"foreign"}},
		"a missing question":                      {without(1), []effectcheck.Rule{"missing"}},
		"a missing word about the pull request":   {without(2), []effectcheck.Rule{"missing"}},
		"a missing answer":                        {without(3), []effectcheck.Rule{"missing"}},
		"a missing word to people who are waited": {without(6), []effectcheck.Rule{"missing"}},
		"a comment at another address":            {func(s *fixture) { s.repo().Comments[0].URL = address(1, 77) }, []effectcheck.Rule{"missing"}},
		"a comment of nobody":                     {add(effectcheck.Comment{ID: 50, Number: 1, Author: bot, Body: "Hm."}), []effectcheck.Rule{"foreign"}},
		"a marker of an unknown instance":         {add(comment(50, 1, repo+"/99", "questions-1")), []effectcheck.Rule{"foreign"}},
		"a marker of another instance":            {add(comment(50, 2, repo+"/1", "questions-1")), []effectcheck.Rule{"foreign"}},
		"a comment nobody meant to make":          {add(comment(50, 1, repo+"/1", "questions-2")), []effectcheck.Rule{"unexplained"}},
		"a word on an end that has its own":       {add(comment(50, 1, repo+"/1", "blocked-1")), []effectcheck.Rule{"unexplained"}},
		"a second pull request":                   {func(s *fixture) { s.pull(14, repo+"/1", "signalbox/issue-1-it-is-wrong", "i1") }, []effectcheck.Rule{"doubled"}},
		"a pull request of another branch":        {func(s *fixture) { s.repo().Pulls[0].Head = "agent/issue-2" }, []effectcheck.Rule{"foreign"}},
		"a pull request without a mark":           {func(s *fixture) { s.repo().Pulls[0].Body = "Hm." }, []effectcheck.Rule{"foreign", "missing"}},
		"a pull request nobody meant to make":     {func(s *fixture) { s.pull(14, "T-1", "signalbox/task-T-1", "t1") }, []effectcheck.Rule{"unexplained"}},
		"a missing pull request":                  {func(s *fixture) { s.repo().Pulls = slices.Delete(s.repo().Pulls, 1, 2) }, []effectcheck.Rule{"missing"}},
		"a pull request of another number":        {func(s *fixture) { s.repo().Pulls[0].Number = 15 }, []effectcheck.Rule{"missing"}},
		"a merge that is not recorded": {func(s *fixture) {
			s.edit("merged", func(r *instance.Reported) { r.Result.Evidence = nil })
		}, []effectcheck.Rule{"merge"}},
		"a merge that was never found ready": {func(s *fixture) {
			s.edit("ready", func(r *instance.Reported) { r.Result.Data = nil })
			s.drop(func(e instance.Event) bool { m, ok := e.(instance.Remembered); return ok && m.Vars["merging"] != "" })
		}, []effectcheck.Rule{"merge"}},
		"a recorded merge that is none": {func(s *fixture) {
			s.repo().Pulls[2].Merged, s.repo().Pulls[2].MergedBy = false, ""
		}, []effectcheck.Rule{"merge"}},
		"a merge made twice":               {func(s *fixture) { s.repo().Moves = append(s.repo().Moves, s.repo().Moves[len(s.repo().Moves)-1]) }, []effectcheck.Rule{"doubled"}},
		"a move of main that is no merge":  {func(s *fixture) { s.on("main", "x1", "m1") }, []effectcheck.Rule{"unexplained"}},
		"a merge that main has lost":       {func(s *fixture) { s.repo().Branches["main"] = "base" }, []effectcheck.Rule{"lost"}},
		"a branch with another head":       {func(s *fixture) { s.repo().Branches["agent/issue-2"] = "i1" }, []effectcheck.Rule{"head", "head"}},
		"a push of what is no work":        {func(s *fixture) { s.on("agent/issue-2", "x1", "p1") }, []effectcheck.Rule{"head", "head"}},
		"a push made twice":                {func(s *fixture) { s.on("signalbox/story-us-1", "s2", "s2") }, []effectcheck.Rule{"doubled"}},
		"a push that was forced":           {func(s *fixture) { s.force("agent/issue-2") }, []effectcheck.Rule{"unexplained"}},
		"a branch nobody meant to make":    {func(s *fixture) { s.on("agent/issue-99", "p1", "") }, []effectcheck.Rule{"unexplained"}},
		"a branch that came from nowhere":  {func(s *fixture) { s.repo().Branches["x"] = "p1" }, []effectcheck.Rule{"unexplained"}},
		"a missing branch":                 {func(s *fixture) { s.gone("signalbox/task-T-1") }, []effectcheck.Rule{"missing"}},
		"a lost commit":                    {func(s *fixture) { delete(s.repo().Parents, "s1"); s.repo().Parents["s2"] = []string{"base"} }, []effectcheck.Rule{"lost"}},
		"a label more":                     {func(s *fixture) { s.repo().Issues[0].Labels = []string{"bug", "signalbox:done", "x"} }, []effectcheck.Rule{"label"}},
		"an issue that is gone":            {func(s *fixture) { s.repo().Issues = s.repo().Issues[1:] }, []effectcheck.Rule{"missing"}},
		"an effect of an instance unknown": {func(s *fixture) { s.forget("T-1") }, []effectcheck.Rule{"unexplained"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := whole(t)
			c.plant(s)
			r := effectcheck.Check(s.log, s.forge, find(t))
			var got []effectcheck.Rule
			for _, v := range r.Violations {
				got = append(got, v.Rule)
				if v.Text == "" || v.Where == "" || !strings.Contains(v.String(), v.Where) {
					t.Errorf("it says not enough: %+v", v)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v: %v", got, c.want, r.Violations)
			}
		})
	}
}

// edit changes the report with the outcome.
func (s *fixture) edit(outcome string, f func(*instance.Reported)) {
	for _, e := range s.log {
		for i, event := range e.Events {
			if r, ok := event.(instance.Reported); ok && r.Result.Data["outcome"] == outcome {
				f(&r)
				e.Events[i] = r
			}
		}
	}
}

func (s *fixture) drop(which func(instance.Event) bool) {
	for i := range s.log {
		s.log[i].Events = slices.DeleteFunc(s.log[i].Events, which)
	}
}

func (s *fixture) forget(id string) {
	s.log = slices.DeleteFunc(s.log, func(e effectcheck.Entry) bool { return e.Instance == id })
}

func (s *fixture) gone(branch string) {
	delete(s.repo().Branches, branch)
	s.repo().Moves = slices.DeleteFunc(s.repo().Moves, func(m effectcheck.Move) bool { return m.Branch == branch })
}

func (s *fixture) force(branch string) {
	for i := range s.repo().Moves {
		if m := &s.repo().Moves[i]; m.Branch == branch {
			m.Kind = "force_push"
		}
	}
}

func TestACommandThatWasAnsweredIsInTheLogOnce(t *testing.T) {
	s := whole(t)
	acks := []effectcheck.Ack{{ID: "c1", Instance: repo + "/1", Seq: 1}, {ID: "c12", Instance: repo + "/2", Seq: 12}}
	if found := effectcheck.Commands(s.log, acks); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	twice := slices.Concat(s.log, []effectcheck.Entry{s.log[0]})
	twice[len(twice)-1].Seq = 99
	for name, c := range map[string]struct {
		log  []effectcheck.Entry
		ack  effectcheck.Ack
		says string
	}{
		"one that is not there":     {s.log, effectcheck.Ack{ID: "c99", Seq: 99}, "is not in the log"},
		"one that was cut off":      {s.log[:11], acks[1], "is not in the log"},
		"one that is there twice":   {twice, acks[0], "at sequences 1 and 99"},
		"one answered otherwise":    {s.log, effectcheck.Ack{ID: "c1", Instance: repo + "/1", Seq: 2}, "answered with sequence 2"},
		"one of another instance":   {s.log, effectcheck.Ack{ID: "c1", Instance: "x", Seq: 1}, `of "x"`},
		"one answered in two ways":  {s.log, effectcheck.Ack{ID: "c12", Instance: repo + "/2", Seq: 11}, "answered with sequence 11"},
		"one whose place is others": {s.log, effectcheck.Ack{ID: "other", Instance: repo + "/1", Seq: 1}, "is not in the log"},
	} {
		t.Run(name, func(t *testing.T) {
			found := effectcheck.Commands(c.log, append(slices.Clone(acks[:1]), c.ack)[1:])
			if len(found) != 1 || found[0].Rule != effectcheck.Acknowledged || !strings.Contains(found[0].Text, c.says) {
				t.Errorf("found %v, want one that says %q", found, c.says)
			}
		})
	}
}
