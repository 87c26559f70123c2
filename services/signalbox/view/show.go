package view

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Page prints one instance: its state, its agent, what it waits for, its results and
// its cost.
func Page(env *term.Env, in Instance) error {
	if env.JSON {
		return env.Print(in)
	}
	p := page{env}
	env.Printf("%s  %s\n", env.Paint(term.Bold, term.Line(in.Instance)), term.Line(in.Issue.Title))
	p.field("issue", in.source())
	p.field("state", in.where(env))
	p.field("owner", in.assignee(env))
	p.field("reason", in.Reason)
	p.proof(in.proof)
	p.field("configured", in.configured())
	p.field("path", strings.Join(append(slices.Clone(in.PreviousStates), in.State), " → "))
	p.field("deadline", in.deadline(env))
	p.escalations(in.Escalations)
	p.questions(in.Questions)
	p.field("remembers", in.remembers())
	p.field("failures", in.failures())
	p.links(in.Links)
	p.last(in)
	ran, seen := apart(in.Evidence)
	p.evidence(ran)
	p.checks(checks(seen), in.Head)
	if f := in.Failure; f != nil && f.Repeats > 0 {
		p.field("failure", fmt.Sprintf("the same one came back %s: %s", times(f.Repeats), cut(f.Signature, 80)))
	}
	p.field("commits", in.commits())
	p.artifacts(in)
	p.field("spend", in.Spend.String())
	p.notes(in.Notes)
	return nil
}

// page writes named fields, one below the other.
type page struct{ env *term.Env }

const margin = "               "

func (p page) field(name, text string) {
	if text = term.Text(text); text == "" {
		return
	}
	text = strings.TrimLeft(term.Indent(p.wrap(text), margin), " ")
	p.env.Printf("  %s%s\n", p.env.Paint(term.Faint, fmt.Sprintf("%-*s", len(margin)-2, name)), text)
}

// below writes one more line of the field above.
func (p page) below(style term.Style, text string) {
	p.env.Printf("%s\n", term.Indent(p.env.Paint(style, p.wrap(term.Text(text))), margin))
}

// wrap breaks a text's lines so that they fit next to the margin.
func (p page) wrap(text string) string {
	if p.env.Width == 0 {
		return text
	}
	return term.Wrap(text, max(p.env.Width-len(margin), len(margin)))
}

// source describes the issue and the lifecycle.
func (in Instance) source() string {
	parts := []string{in.Workflow}
	if in.Issue.Number > 0 {
		parts = append(parts, fmt.Sprintf("%s#%d", in.Issue.Repo, in.Issue.Number))
	}
	if in.Issue.Author != "" {
		parts = append(parts, "by "+in.Issue.Author)
	}
	parts = append(parts, in.Issue.Labels...)
	if in.Issue.URL != "" {
		parts = append(parts, in.Issue.URL)
	}
	return strings.Join(parts, " · ")
}

// configured names the configuration of the repository that it goes by, and what is wrong
// with a newer one.
func (in Instance) configured() string {
	c := in.Issue.Configured()
	said := c.Problem
	if c.File != "" {
		said = strings.TrimSpace(fmt.Sprintf("by %s at %.12s\n%s", c.File, c.Commit, said))
	}
	return said
}

// where describes the state and how the instance stands in it.
func (in Instance) where(env *term.Env) string {
	text := in.State
	switch {
	case in.Closed == instance.Cancelled:
		text += ", cancelled " + env.Since(in.UpdatedAt) + " ago"
	case in.Kind == workflow.Final:
		text += ", ended " + env.Since(in.EnteredAt) + " ago"
	default:
		text += " for " + env.Since(in.EnteredAt)
	}
	if in.Attempt > 1 {
		text += fmt.Sprintf(", visit %d", in.Attempt)
	}
	text += ", " + Count(in.Iteration, "move")
	if in.Loop {
		text += ", in a loop"
	}
	if in.Paused {
		text += ", paused"
	}
	return text
}

// assignee describes the owner and its agent.
func (in Instance) assignee(env *term.Env) string {
	switch {
	case in.Closed != "":
		return ""
	case in.Worker == "" && in.Kind != workflow.Wait:
		return "nobody, people are asked"
	case in.Kind == workflow.Wait && in.Worker == "":
		return "nobody, it waits"
	case in.Parked != nil:
		return in.Owner + ", parked" + clock(env).Until(in.Parked.Until) + ": " + in.Parked.Reason
	case in.Rest != nil:
		return in.Worker + " rests " + clock(env).Rests(in.Rest.Until) + ": " + in.Rest.Reason
	case in.Worker != in.Owner && in.Claim == nil:
		return in.Worker + " is asked, and has not taken it"
	case in.Claim == nil:
		return in.Owner + ", nobody has taken it"
	case !in.Working(env.Now()):
		return fmt.Sprintf("%s, %s took it and its lease ran out %s ago", in.Owner, in.Claim.Agent, env.Since(in.Claim.Lease))
	}
	return fmt.Sprintf("%s, %s took it %s ago, its lease runs for %s more", in.Owner, in.Claim.Agent, env.Since(in.Claim.At),
		term.Duration(in.Claim.Lease.Sub(env.Now())))
}

// deadline describes the state's timeout and the next deadline.
func (in Instance) deadline(env *term.Env) string {
	if in.TimeoutS == 0 || in.Closed != "" {
		return ""
	}
	text := fmt.Sprintf("%s in this state", term.Duration(time.Duration(in.TimeoutS*float64(time.Second))))
	if in.Level != "" {
		text += fmt.Sprintf(", %s was sent", in.Level)
	}
	if d := in.NextDeadline; d != nil {
		if left := d.At.Sub(env.Now()); left > 0 {
			text += fmt.Sprintf(", %s in %s", d.Level, term.Duration(left))
		} else {
			text += fmt.Sprintf(", %s is due", d.Level)
		}
	}
	return text
}

func (p page) escalations(all []instance.Escalation) {
	for i, e := range all {
		name := ""
		if i == 0 {
			name = "escalations"
		}
		text := fmt.Sprintf("E%d %s: %s", e.Number, e.Agent, e.Reason)
		switch {
		case e.Resolved:
			text += "\n  resolved by " + e.By + ": " + e.Resolution
		case e.RequiresHuman:
			text += "\n  open: people have to resolve it"
		}
		p.field(name, text)
	}
}

func (p page) questions(all []instance.Question) {
	open := 0
	for _, q := range all {
		if !q.Answered && !q.Withdrawn {
			open++
		}
	}
	if len(all) == 0 {
		return
	}
	p.field("questions", fmt.Sprintf("%d open of %d", open, len(all)))
	for _, q := range all {
		asks := strings.TrimRight(fmt.Sprintf("Q%d %s asks %s", q.Number, q.From, q.To), " ") + ": " + q.Text
		if q.Withdrawn {
			p.below(term.Faint, asks+" (withdrawn)")
			continue
		}
		if !q.Answered {
			p.below(term.Wait, asks)
			for _, line := range FormLines(q) {
				p.below(term.Wait, "   "+line)
			}
			continue
		}
		by := q.By
		switch {
		case q.ByDefault:
			by = "the default"
		case by == "":
			by = "a person"
		}
		p.below(term.Plain, asks)
		p.below(term.Faint, fmt.Sprintf("   %s: %s", by, q.Answer))
	}
}

// FormLines describes the form of an answer, a line each.
func FormLines(q instance.Question) []string {
	options, more := q.Lines(q.Deadline)
	return append(options, more...)
}

// remembers lists the vars, one a line.
func (in Instance) remembers() string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(in.Vars)) {
		lines = append(lines, remembered(name, cut(in.Vars[name], 80)))
	}
	return strings.Join(lines, "\n")
}

// remembered describes a var in words, if it has a name and a value as the lifecycles that
// are built in give them.
func remembered(name, value string) string {
	switch {
	case name == "prNumber" && value == "0":
		return "no pull request"
	case name == "prNumber" && number(value):
		return "pull request #" + value
	case name == "pushed" && commit(value):
		return "pushed " + short(value)
	}
	return name + " is " + formatValue(value)
}

// number reports whether a value is a number of an issue or a pull request.
func number(value string) bool {
	n, err := strconv.Atoi(value)
	return err == nil && n > 0
}

// commit reports whether a value is the hash of a commit.
func commit(value string) bool {
	_, err := hex.DecodeString(value)
	return err == nil && (len(value) == 40 || len(value) == 64)
}

// failures lists the failures in a row by state.
func (in Instance) failures() string {
	var lines []string
	for _, state := range slices.Sorted(maps.Keys(in.Failures)) {
		lines = append(lines, fmt.Sprintf("%s %s in a row", state, times(in.Failures[state])))
	}
	return strings.Join(lines, ", ")
}

func (p page) links(all []Link) {
	for i, l := range all {
		name := ""
		if i == 0 {
			name = "links"
		}
		text := map[string]string{"child": "opened ", "after": "comes after "}[l.Kind] + l.Instance
		switch {
		case l.Ended && l.Well:
			text += ", which ended well in " + l.State
		case l.Ended:
			text += ", which did not end well: " + l.State
		}
		p.field(name, text)
	}
}

func (p page) last(in Instance) {
	r := in.LastResult
	if r == nil {
		return
	}
	text := fmt.Sprintf("%s in %s, confidence %g", r.Status, in.LastState, r.ConfidenceScore)
	if r.Summary != "" {
		text += "\n" + r.Summary
	}
	p.field("last result", text)
	for _, issue := range r.IssuesFound {
		if !strings.Contains(r.Summary, issue) {
			p.below(term.Wait, "- "+issue)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Data)) {
		if value := r.Data[key]; in.Vars[key] != value && !strings.Contains(r.Summary, value) {
			p.below(term.Plain, key+": "+value)
		}
	}
}

// artifacts names the newest prompt, and the newest of what a brain printed.
func (p page) artifacts(in Instance) {
	for _, kind := range []string{"prompt", "log"} {
		for _, a := range slices.Backward(in.Artifacts) {
			if state, ok := strings.CutSuffix(a.Name, "."+kind); ok {
				p.field(kind, fmt.Sprintf("of %s: %d bytes, SHA-256 %s; signalbox logs %s --state %s", state, a.Size,
					a.SHA256[:min(12, len(a.SHA256))], in.Instance, state))
				break
			}
		}
	}
}

// maxFailed is the number of failing tests that are named.
const maxFailed = 20

func (p page) evidence(all []instance.Evidence) {
	for _, e := range all {
		verdict := "passed"
		if e.Name == work.Red { // its failures are what it is for
			verdict = map[bool]string{true: "a test fails", false: "no test fails"}[e.OK]
		} else if !e.OK {
			verdict = fmt.Sprintf("failed with exit code %d", e.ExitCode)
		}
		p.field(e.Name, fmt.Sprintf("%s on %s%s: %s (%d passed, %d failed)", verdict, short(e.Commit), madeBy(e), e.Command, e.Passed,
			len(e.Failed)))
		if mode := e.Data["sandbox"]; mode != "" {
			p.below(term.Faint, "sandbox: "+mode)
		}
		if found := e.Data[work.Findings]; found != "" {
			p.below(term.Wait, found)
		}
		for i, name := range e.Failed {
			if i == maxFailed {
				p.below(term.Bad, fmt.Sprintf("and %d more", len(e.Failed)-i))
				break
			}
			p.below(term.Bad, "✗ "+name)
		}
		if !e.OK && e.Name != work.Red && e.Output != "" {
			p.below(term.Faint, beginning(e.Output))
		}
	}
}

// beginning returns the first lines of what a check printed: those that say why it failed
// are put first.
func beginning(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("… %s more: signalbox logs", Count(more, "line")))
	}
	return strings.Join(lines, "\n")
}

// maxLines is how many lines of output are shown.
const maxLines = 8

// madeBy names who made the evidence; empty if the log does not say.
func madeBy(e instance.Evidence) string {
	switch {
	case e.Role != "":
		return ", by " + e.Role + " " + e.Agent
	case e.Agent != "":
		return ", by a signal of " + e.Agent
	}
	return ""
}

// commits describes the range of commits.
func (in Instance) commits() string {
	if in.Head == "" {
		return ""
	}
	if in.Base == in.Head {
		return short(in.Head) + ", nothing is changed"
	}
	return short(in.Base) + ".." + short(in.Head) + ", in " + Count(len(in.Bundles), "bundle")
}

func (p page) notes(all []instance.NoteEntry) {
	for i, n := range all {
		name := ""
		if i == 0 {
			name = "notes"
		}
		p.field(name, fmt.Sprintf("%s %s (%s): %s", n.At.UTC().Format("2006-01-02 15:04"), n.Author, n.Kind, n.Text))
	}
}

// String formats the spend; it is empty if nothing was spent.
func (s Spend) String() string {
	var parts []string
	if s.TokensIn+s.TokensOut > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", s.TokensIn, s.TokensOut))
	}
	if s.USD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", s.USD))
	}
	if s.WallMS > 0 {
		parts = append(parts, term.Duration(millis(s.WallMS))+" of work")
	}
	return strings.Join(parts, ", ")
}

// formatValue formats a value; an empty text is "".
func formatValue(v any) string {
	if v == "" {
		return `""`
	}
	return fmt.Sprint(v)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// short abbreviates the hash of a commit.
func short(commit string) string { return commit[:min(len(commit), 10)] }
