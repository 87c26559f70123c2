package role

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// comparison is what a change is judged by.
type comparison struct {
	gate       gate
	tree, base *workspace.Tree
	before     *madeRun // the first run on the base; nil: it is still to be made
	command    string   // for people
	runs       runs
	plans      []testrun.Plan // all that test or check the change
	criteria   bool           // all tests have to pass, whatever they did on the base
}

// compare judges the change in a tree by its tests against those of the base. A matter that no rule decides is put to people, by an *agent.ErrEscalate, or to
// the tester, by the question of the judgement.
func (s step) compare(ctx context.Context, c comparison) (instance.Evidence, error) {
	g, tree := c.gate, c.tree
	files, written, err := s.testFiles(ctx, tree, c.base, c.plans)
	if err != nil {
		return instance.Evidence{}, err
	}
	touched, err := tree.Touched(ctx, tree.Base, tree.Head)
	if err != nil {
		return instance.Evidence{}, err
	}
	suspicions, distrust, err := s.suspicions(ctx, tree, touched)
	if err != nil {
		return instance.Evidence{}, err
	}
	wanted, wrong := rules.Values(s.job.Issue)
	t := &trial{
		step: s, of: c, files: files,
		input: verdict.Input{
			Kind: kindOf(touched), Base: tree.Base, Change: tree.Head, Aside: g.aside, AllAside: g.allAside, Written: written,
			Accepted: s.accepted(), FlakeRuns: s.flakeRuns(), Words: s.words(), Wanted: wanted, Wrong: wrong,
			Findings: append(suspicions, s.filesAccepted()...), Distrust: distrust, Lost: s.testChanges() == changesAllow,
		},
	}
	ev, err := t.try(ctx)
	if err != nil || ev.Judgement == nil {
		return ev, err
	}
	if ev, err = s.settle(g, ev); err == nil && ev.OK {
		ev.Demo, err = s.demonstrate(ctx, c)
	}
	return ev, err
}

// asksOfTests begins the question about a change of tests that no rule judges, and
// asksOfProof the one about work that nothing shows to be right.
const (
	asksOfTests = "the tests cannot judge this change by themselves: "
	asksOfProof = "nothing shows that this change does what the issue asks: "
)

// settle puts to people the open points of the judgement, once. Points that they accepted are
// part of the judgement of the next run.
func (s step) settle(g gate, ev instance.Evidence) (instance.Evidence, error) {
	j := *ev.Judgement
	if j.Question != "" {
		if j.Question = verdict.Shorten(j.Question, maxSaid); s.testerIsAsked(j.Question) {
			return ev, nil // by a rule of the lifecycle
		}
		reason := asksOfTests + j.Question + details(g, j, ev)
		if !s.answered(reason) {
			return ev, &agent.ErrEscalate{Reason: reason, RequiresHuman: true}
		}
	}
	proof := instance.ProofOf([]instance.Evidence{ev}, j.Base, j.Change)
	if !ev.OK || proof.Policy(s.job.Policy) != instance.UnprovenAsk {
		return ev, nil
	}
	reason := asksOfProof + proof.Reason + "\n\nShall it go on without? A no ends it: cancel the work, or say which test would show it."
	e, ok := s.answer(asksOfProof)
	if !ok {
		return ev, &agent.ErrEscalate{Reason: reason, RequiresHuman: true}
	}
	if refusing.MatchString(e.Resolution) {
		return ev, nil // a gate of the lifecycle ends it
	}
	j.Waived = e.By
	if j.Waived == "" {
		j.Waived = "human"
	}
	ev.Judgement = &j
	return ev, nil
}

// testerIsAsked reports whether a tester with a brain is asked before people are: there is
// one, and it was not asked this already.
func (s step) testerIsAsked(question string) bool {
	if len(s.job.Testers) == 0 || s.free || !slices.Contains(s.job.Testers, s.job.Role) {
		return false
	}
	return !slices.ContainsFunc(s.job.Evidence, func(ev instance.Evidence) bool {
		return ev.Name == work.Tests && ev.Judgement != nil && ev.Judgement.Question == question
	})
}

// details are the lines of a question that the answer is applied to: names of tests, and
// files with the beginning of their content's id.
func details(g gate, j verdict.Judgement, ev instance.Evidence) string {
	var b strings.Builder
	b.WriteString("\n\nA yes accepts this, by name:\n")
	for _, name := range ev.Failed {
		fmt.Fprintf(&b, "\ntest %s", name)
	}
	if j.Ways != nil {
		for _, name := range j.Ways.Files.Names {
			fmt.Fprintf(&b, "\nfile %s %s", idOf(g.changed[name]), name)
		}
	}
	return b.String() + onCommit(j.Change)
}

var refusing = lazyregexp.New(`(?i)^\W*(?:no|nope|never|reject(?:ed)?|refused?|wrong|deny|denied|do not|don't)\b`)

// answer returns the newest answered escalation that begins so.
func (s step) answer(beginning string) (instance.Escalation, bool) {
	for _, e := range slices.Backward(s.job.Escalations) {
		if e.Resolved && strings.HasPrefix(e.Reason, beginning) {
			return e, true
		}
	}
	return instance.Escalation{}, false
}

// answered reports whether people have answered this very question.
func (s step) answered(reason string) bool {
	return slices.ContainsFunc(s.job.Escalations, func(e instance.Escalation) bool { return e.Resolved && e.Reason == printable(reason) })
}

// declined returns the evidence of a commit whose change of tests people did not accept: another
// run would show the same. The work goes back with their answer.
func (s step) declined(tree *workspace.Tree, plan testrun.Plan) (instance.Evidence, bool) {
	e, answered := s.answer(asksOfTests)
	if !answered || !refusing.MatchString(e.Resolution) || !strings.HasSuffix(e.Reason, onCommit(tree.Head)) {
		return instance.Evidence{}, false
	}
	by := e.By
	if by == "" {
		by = "human"
	}
	why := by + " did not accept the change of the tests: " + e.Resolution
	ev := instance.Evidence{Name: testrun.Name, Commit: tree.Head, Command: plan.Command(), ExitCode: 1, Output: why + "\n\n" + e.Reason,
		Judgement: &verdict.Judgement{Kind: verdict.Code, Base: tree.Base, Change: tree.Head, Unproven: "the change of the tests was not accepted", Findings: []string{why}}}
	for line := range strings.Lines(e.Reason) {
		if name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "test "); ok {
			ev.Failed = append(ev.Failed, name)
		}
	}
	return ev, true
}

// onCommit is the last line of a question about a change of tests.
func onCommit(head string) string { return fmt.Sprintf("\non %.12s", head) }

// acceptances returns the lines of a kind in the questions that people answered with no no.
func (s step) acceptances(kind string) map[string]instance.Escalation {
	found := map[string]instance.Escalation{}
	for _, e := range s.job.Escalations {
		if !e.Resolved || !strings.HasPrefix(e.Reason, asksOfTests) || refusing.MatchString(e.Resolution) {
			continue
		}
		for line := range strings.Lines(e.Reason) {
			if name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), kind+" "); ok {
				found[name] = e
			}
		}
	}
	return found
}

// accepted lists the tests that people accepted by name.
func (s step) accepted() []verdict.Accepted {
	var all []verdict.Accepted
	for name, e := range s.acceptances("test") {
		by := e.By
		if by == "" {
			by = "human"
		}
		all = append(all, verdict.Accepted{Name: name, By: by})
	}
	slices.SortFunc(all, func(a, b verdict.Accepted) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// filesAccepted names for the reviewer the changed files that people accepted, and with which words.
func (s step) filesAccepted() []string {
	var all []string
	for line, e := range s.acceptances("file") {
		_, name, _ := strings.Cut(line, " ")
		by := e.By
		if by == "" {
			by = "human"
		}
		all = append(all, fmt.Sprintf("the role that wrote the code changed %s; %s accepted that: %s", name, by, verdict.Shorten(e.Resolution, maxSaid)))
	}
	slices.Sort(all)
	return all
}

// acceptsFile reports whether people accepted a file with this very content.
func (s step) acceptsFile(name string, is workspace.Version) bool {
	_, ok := s.acceptances("file")[idOf(is)+" "+name]
	return ok
}

// idOf names the content of a file for people.
func idOf(v workspace.Version) string {
	if v.Blob == "" {
		return "deleted"
	}
	return v.Blob[:min(len(v.Blob), 12)]
}

// words are the words of the report and of what was said and planned since.
func (s step) words() string {
	all := []string{s.job.Issue.Title, s.job.Issue.Body}
	for _, n := range s.job.Notes {
		all = append(all, n.Text)
	}
	for _, q := range s.job.Questions {
		all = append(all, q.Answer)
	}
	for _, text := range s.job.Sections {
		all = append(all, string(text))
	}
	return strings.Join(append(all, s.job.Vars[story]), "\n")
}

// document matches files that no program reads.
var document = lazyregexp.New(`(?i)(?:^|/)(?:[^/]+\.(?:md|markdown|rst|adoc|asciidoc|png|jpe?g|gif|webp|svg|pdf)|` +
	`(?:readme|license|licence|copying|changelog|changes|authors|contributors|contributing|notice|security|code_of_conduct)(?:\.[a-z]+)?|docs?/.*\.txt)$`)

// kindOf is the kind of a change, by the files that it touches.
func kindOf(touched []string) verdict.Kind {
	if len(touched) == 0 || slices.ContainsFunc(touched, func(name string) bool { return !document.MatchString(path.Clean(name)) }) {
		return verdict.Code
	}
	return verdict.Documents
}

// suspicions lists what a change does to the process of its tests, and why its tests are
// not believed, if they are not.
func (s step) suspicions(ctx context.Context, tree *workspace.Tree, touched []string) (all []string, distrust string, err error) {
	for _, name := range touched {
		is, was, now, before, err := versions(ctx, tree, tree.Base, name)
		if err != nil {
			return nil, "", err
		}
		if why := testrun.EndsProcess(name, before, now); why != "" {
			all, distrust = append(all, why), why
		}
		if is.Blob != "" && was.Blob == "" {
			if why := testrun.Shadows(name); why != "" {
				all = append(all, why)
			}
		}
	}
	return all, distrust, nil
}
