package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/triage"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// How many entries of a list are kept, the newest: many, or few where the prompt would be
// too large.
const (
	many = 100
	few  = 10
)

// Data is what a template is given. Fields are added to it; none is renamed or removed. A
// string is the system's own, or the lifecycle's. A *Line or a *Text was written by a
// person or a program; it is nil if there is none.
type Data struct {
	Instance string // the id of the work
	Workflow string // its lifecycle
	Role     string // of the brain
	State    string // of the work
	About    string // what the state asks for, in the lifecycle's words

	Asked *Asked // a question of another role, which is the work; nil: the state's work is
	Does  string // the work in addition to thinking, by the lifecycle, such as read_answers; empty: none
	Runs  string // what the runtime runs: tests, checks, criteria; empty: nothing

	MustChange bool // success needs a change of the code
	Judges     bool // what is changed is dropped
	Code       bool // there is a work tree
	Tool       bool // the result is the arguments of a tool, finish

	Issue     Issue
	Questions []Question // all so far, to people and roles
	Open      bool       // a question is not answered

	Previous    []string // the states so far, oldest first
	Attempt     int      // visits to this state, this one included
	Failures    int      // of this state in a row
	Last        *Step    // the newest step of the work; nil: this is the first
	Steps       []Step   // those before it, oldest first
	Checks      []Check  // the newest of each name that the runtime made, but Red
	Red         []Check  // of tests, before there was code for them
	Warnings    []string // of the runtime; they may repeat words of a program, on one line
	Notes       []Note
	Vars        *Text // what the instance remembers
	Sections    []Section
	Escalations []Escalation

	Guidance    []File     // what the repository says to those who change it
	Learnings   []Learning // what agents and people noted of the repository before, as far as it fits the work
	Test        *Line      // the command that tests the repository
	TestChanges string     // what becomes of the change's own changes of tests: aside, refuse or allow
	Kept        []*Line    // files that the role's changes of do not count for the tests
	Forbidden   []string
	Criteria    []*Text // commands that have to pass in the end

	Policy    map[string]string // of the lifecycle, such as confidence_threshold; an unknown name is empty
	Dir       string            // the work tree
	Base      string            // the commit that the work started from
	Head      string            // the commit that it is at
	Next      []string          // the states that a result may propose
	Writes    []string          // the sections that a result may have
	StateFile string            // the document, in the directory that the brain starts in
	Deadline  string            // empty: none
}

// Asked is a question of another role.
type Asked struct {
	Number int
	From   string // the role
	Text   *Text
}

// Issue is what was reported.
type Issue struct {
	Repo     string // empty: it is on no forge
	Number   int
	Author   *Line
	Standing string // what the author may do in the repository, in words; empty: nobody asked
	Stranger bool   // the author may not write to the repository
	Labels   []*Line
	Title    *Line
	Text     *Text // title and body
}

// Question is a question to people or a role.
type Question struct {
	Number   int
	From     string // the role
	To       string // the role; empty: people
	Text     *Text
	Answered bool
	Answer   *Text
}

// Step is a step of the work that has ended.
type Step struct {
	State      string // may be empty of the last one, and so may Role, To and Why
	Role       string
	Status     string
	Confidence string // such as 0.85
	Said       *Text  // its summary and what it found
	To         string // where the work went on; empty: nowhere
	Why        string // the lifecycle's reason of that
}

// Check is a check that the runtime made on a commit.
type Check struct {
	Name     string
	OK       bool
	Commit   string
	Role     string // under whose claim; may be empty
	ExitCode int
	Command  *Text
	Findings *Text // of the tests themselves: which were set aside, how many are gone
	Failing  *Text // their names
	Output   *Text // of one that failed, what matters first
}

// Note is a remark of a person, a role or the system.
type Note struct {
	Author *Line
	Kind   string // such as comment or learning
	Text   *Text
}

// Section is a part of the lifecycle's document.
type Section struct {
	Name string
	Text *Text
}

// Escalation is a matter that was put to people.
type Escalation struct {
	Number     int
	From       string // the role
	Reason     *Text
	Resolved   bool
	By         *Line // who resolved it
	Resolution *Text
}

// File is a file of the repository, as Base has it.
type File struct {
	Path string
	Text *Text
	Cut  int // bytes that are left out
}

// Learning is a fact about the repository that was noted before.
type Learning struct {
	ID        string
	Path      *Line  // file or directory that it is about; nil: the whole repository
	Standing  string // who proposed it and what confirms it
	Confirmed bool
	Text      *Text
}

// text returns a text with its author; nil if it is blank.
func (p *page) text(text, by string) *Text {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &Text{text, by, p}
}

func line(text string) *Line {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &Line{text}
}

func lines(all []string) (made []*Line) {
	for _, l := range all {
		made = append(made, &Line{l})
	}
	return made
}

func (p *page) clean(all []string) (made []string) {
	for _, s := range newest(p, all) {
		made = append(made, oneLine(s))
	}
	return made
}

// newest is the end of a list.
func newest[T any](p *page, all []T) []T { return all[max(0, len(all)-p.entries):] }

// data is what a template is given of an assignment. The texts are printed on p.
func data(a work.Assignment, tools bool, p *page) Data {
	d := Data{
		Instance: oneLine(a.Instance), Workflow: oneLine(a.Workflow), Role: oneLine(a.Role), State: oneLine(a.State),
		About: strings.TrimSpace(sanitize.Terminal(a.About)),
		Does:  a.Work.Does, Runs: a.Work.Runs, MustChange: a.Work.Change == workflow.ChangeRequired && a.Question == nil,
		Judges: a.Work.DropsChanges(), Code: a.Dir != "", Tool: tools,
		Issue: issue(a.Issue, p), Questions: questions(a.Questions, p), Previous: p.clean(a.Previous), Attempt: a.Attempt, Failures: a.Failures,
		Warnings: p.clean(a.Warnings), Notes: notes(a.Notes, p), Escalations: escalations(a.Escalations, p),
		Test: line(a.Brief.Test), Kept: lines(newest(p, a.Brief.Kept)), Forbidden: a.Brief.Forbidden,
		Policy: map[string]string{}, Dir: oneLine(a.Dir), Base: oneLine(a.Base), Head: oneLine(a.Head), Next: p.clean(a.Next),
		Writes:    p.clean(a.Writes),
		StateFile: oneLine(a.StateFile),
	}
	if q := a.Question; q != nil {
		d.Asked = &Asked{q.Number, oneLine(q.From), p.text(q.Text, agent(q.From))}
	}
	d.Open = slices.ContainsFunc(a.Questions, func(q instance.Question) bool { return !q.Answered })
	for name, value := range a.Policy {
		d.Policy[name] = oneLine(fmt.Sprint(value))
	}
	d.TestChanges = d.Policy["test_changes"]
	d.past(a, p)
	for _, e := range newest(p, a.Evidence) {
		if e.Name == work.Red {
			d.Red = append(d.Red, check(e, p))
		} else {
			d.Checks = append(d.Checks, check(e, p))
		}
	}
	d.remember(a, p)
	for _, f := range a.Brief.Guidance {
		d.Guidance = append(d.Guidance, File{oneLine(f.Path), p.text(f.Text, "the repository's own, as its base has it"), f.Cut})
	}
	for _, l := range a.Brief.Learnings[:min(len(a.Brief.Learnings), p.entries)] { // what fits best is first
		standing := oneLine(l.Standing())
		d.Learnings = append(d.Learnings,
			Learning{oneLine(l.ID), line(l.Path), standing, l.State == learning.StateConfirmed, p.text(l.Text, "learned here before: "+standing)})
	}
	for _, c := range newest(p, a.Brief.Criteria) {
		d.Criteria = append(d.Criteria, p.text(c, "the plan of the work"))
	}
	if !a.Deadline.IsZero() {
		d.Deadline = a.Deadline.UTC().Format("2006-01-02 15:04:05 MST")
	}
	return d
}

// past fills in the steps that have ended.
func (d *Data) past(a work.Assignment, p *page) {
	for _, s := range newest(p, a.Brief.Steps) {
		d.Steps = append(d.Steps, Step{oneLine(s.State), oneLine(s.Role), oneLine(s.Status), fmt.Sprintf("%.2f", s.Confidence),
			p.text(s.Said, agent(s.Role)), oneLine(s.To), oneLine(s.Why)})
	}
	r := a.Last
	if r == nil {
		return
	}
	d.Last = &Step{Status: oneLine(string(r.Status)), Confidence: fmt.Sprintf("%.2f", r.ConfidenceScore)}
	by := "the step before this one"
	if n := len(d.Steps) - 1; n >= 0 && d.Steps[n].Status == d.Last.Status && d.Steps[n].Confidence == d.Last.Confidence {
		last := d.Steps[n]
		d.Last, d.Steps = &last, d.Steps[:n]
		by = agent(last.Role)
	}
	d.Last.Said = p.text(strings.Join(append([]string{r.Summary}, r.IssuesFound...), "\n"), by)
}

// remember fills in the variables and the document.
func (d *Data) remember(a work.Assignment, p *page) {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(a.Vars)) {
		values = append(values, fmt.Sprintf("%s = %q", name, a.Vars[name]))
	}
	d.Vars = p.text(strings.Join(values, "\n"), "kept with the work by agents and people")
	for _, name := range newest(p, slices.Sorted(maps.Keys(a.Sections))) {
		d.Sections = append(d.Sections,
			Section{oneLine(name), p.text(pretty(a.Sections[name]), "a section of the document, by the roles that write it")})
	}
}

func pretty(section json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, section, "", "  ") != nil {
		return string(section)
	}
	return b.String()
}

func issue(i instance.Issue, p *page) Issue {
	made := Issue{Repo: oneLine(i.Repo), Number: i.Number, Author: line(i.Author), Labels: lines(newest(p, i.Labels)), Title: line(i.Title)}
	by := "the reporter"
	if i.Author != "" {
		by = fmt.Sprintf("reported by %q", oneLine(i.Author))
	}
	if i.Permission != "" {
		made.Stranger = !instance.MayWrite(i.Permission)
		made.Standing = "may write to the repository"
		if made.Stranger {
			made.Standing = "may not write to the repository"
		}
		by += ", who " + made.Standing
	}
	made.Text = p.text(i.Title+"\n\n"+i.Body, by)
	return made
}

func questions(all []instance.Question, p *page) (made []Question) {
	for _, q := range newest(p, all) {
		by := "people"
		switch {
		case q.To != "":
			by = agent(q.To)
		case q.ByDefault:
			by = "its default, for nobody answered in time"
		case q.By != "":
			by = fmt.Sprintf("answered by %q", oneLine(q.By))
		}
		answer := p.text(q.Answer, by)
		if q.Answered && answer == nil {
			answer = &Text{"", by, p}
		}
		asked := q.Text
		if permitted := q.Permitted(); permitted != nil {
			asked += "\nPermitted answers: " + strings.Join(permitted, ", ")
		}
		made = append(made, Question{q.Number, oneLine(q.From), oneLine(q.To), p.text(asked, agent(q.From)), q.Answered, answer})
	}
	return made
}

func notes(all []instance.NoteEntry, p *page) (made []Note) {
	all = slices.DeleteFunc(slices.Clone(all), func(n instance.NoteEntry) bool { return n.Kind == NoteKind || n.Kind == triage.Note })
	for _, n := range newest(p, all) {
		kind := oneLine(n.Kind)
		made = append(made, Note{&Line{n.Author}, kind, &Text{n.Text, fmt.Sprintf("%s of %q", kind, oneLine(n.Author)), p}})
	}
	return made
}

func escalations(all []instance.Escalation, p *page) (made []Escalation) {
	for _, e := range newest(p, all) {
		by := "people"
		if e.By != "" {
			by = fmt.Sprintf("%q, who may decide", oneLine(e.By))
		}
		made = append(made, Escalation{e.Number, oneLine(e.Agent), &Text{e.Reason, agent(e.Agent), p}, e.Resolved, line(e.By),
			p.text(e.Resolution, by)})
	}
	return made
}

func check(e instance.Evidence, p *page) Check {
	by := "the runtime, of commit " + oneLine(e.Commit)
	output := "printed by a program, on commit " + oneLine(e.Commit)
	return Check{
		Name: oneLine(e.Name), OK: e.OK, Commit: oneLine(e.Commit), Role: oneLine(e.Role), ExitCode: e.ExitCode,
		Command: &Text{e.Command, "the command", p}, Findings: p.text(e.Data[work.Findings], by),
		Failing: p.text(strings.Join(e.Failed, "\n"), by), Output: p.text(e.Output, output),
	}
}

// agent says that an agent of a role wrote something.
func agent(role string) string {
	if role == "" {
		return "an agent"
	}
	return "an agent, the " + oneLine(role)
}
