package rules

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Analyst judges a report by what a good one has and asks for what is missing.
//
// The confidence is the sum of the weights of the points that the report or a later comment
// makes. A point that the reporter was asked about and does not
// know counts three quarters: it is assumed, not missing. Questions are asked only while the
// confidence is below the policy's confidence_threshold.
type Analyst struct{}

const (
	unknownCounts = 0.75
	maxAsked      = 2 // times the same is asked
	maxQuestions  = 3 // asked at a time
)

// Work implements brain.Brain.
func (Analyst) Work(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
	if a.Question != nil {
		return CannotAnswer(a), nil
	}
	if a.Last != nil && a.Last.Status == instance.Blocked && len(a.Last.Questions) == 0 {
		// Nothing in the report can help the role that sent it back.
		return declared(instance.Result{Status: instance.Blocked, Summary: a.Last.Summary, IssuesFound: a.Last.IssuesFound}), nil
	}
	w := Weigh(a)
	if why := w.ForPeople(); why != "" {
		return declared(instance.Result{Status: instance.Blocked, Summary: why, Data: map[string]string{"kind": string(question)}}), nil
	}
	threshold := Number(a, "confidence_threshold", 0.85)
	r := instance.Result{Status: instance.Success, ConfidenceScore: w.Confidence}
	if w.open {
		// A person waits for an answer, and this work with them.
		r.ConfidenceScore = max(0, min(w.Confidence, math.Floor(threshold*100-1)/100))
	}
	if r.ConfidenceScore < threshold {
		r.Questions = w.Questions
		if len(w.Questions) == 0 && !w.open {
			r.Status = instance.Blocked
		}
	}
	r.Answers = w.answers
	r.Summary = w.String()
	if r.Status == instance.Blocked {
		r.Summary += " There is nothing left to ask, and it is too little to work on."
	}
	r.Data = map[string]string{
		"kind": string(w.kind), "found": strings.Join(w.has, ", "),
		"missing": strings.Join(w.Lacks, ", "), "assumed": strings.Join(w.assumed, ", "),
	}
	return declared(r), nil
}

// questionForPeople is what the analyst says of a question for help.
const questionForPeople = "This reads as a question about how to use it, not as a report of a fault or a request. " +
	"It is left to people: answer it here and close the issue, or say what should be changed and the work goes on with that."

// changes is what people say who want a change.
var changes = lazyregexp.New(`(?i)\b(add|support|allow|implement|provide|introduce|make it possible|option to|feature)\b`)

// ForPeople returns why the report is left to people; empty if it is not.
func (w Weighing) ForPeople() string {
	if w.kind == question {
		return questionForPeople
	}
	return ""
}

// Weighing is a report with what people said since, element by element.
type Weighing struct {
	kind         kind
	Confidence   float64
	Lacks        []string // by what the elements are called
	Questions    []string // to ask
	has, assumed []string
	open         bool                      // something asked before is still needed and not answered
	answers      []instance.QuestionAnswer // to open questions, found in what was said
}

// Weigh looks for the points of a good report, in the report and in later comments.
func Weigh(a brain.Assignment) Weighing {
	rep := read(a.Issue, Said(a))
	if said := strings.Join(Said(a), "\n"); rep.kind == question && (mentions(expected, said, "") || changes.MatchString(said)) {
		rep.kind = bug // people said what should be changed
		for _, p := range parts(bug) {
			rep.found[p.element] = rep.found[p.element] || mentions(p.element, rep.text, "")
		}
	}
	w := Weighing{kind: rep.kind}
	if w.kind == question {
		return w
	}
	var lacks []part
	for _, p := range parts(w.kind) {
		if ask(a, p).answered {
			rep.found[p.element] = true
		}
	}
	for _, p := range parts(w.kind) {
		asked, name := ask(a, p), p.name()
		switch {
		case rep.has(p.element):
			w.Confidence += p.weight
			w.has = append(w.has, name)
		case asked.unknown || asked.times >= maxAsked && !asked.open:
			w.Confidence += p.weight * unknownCounts
			w.assumed = append(w.assumed, name)
		default:
			w.Lacks = append(w.Lacks, name)
			if !asked.open {
				lacks = append(lacks, p)
			}
		}
	}
	// The heaviest gap is asked about first; an issue is not an interrogation.
	slices.SortStableFunc(lacks, func(a, b part) int { return cmp.Compare(b.weight, a.weight) })
	if mayAskMore(a, w.kind) {
		for _, p := range lacks[:min(len(lacks), maxQuestions)] {
			w.Questions = append(w.Questions, p.question(rep))
		}
	}
	w.Confidence = math.Round(w.Confidence*100) / 100
	for _, q := range openOf(a.Questions) {
		if settled(rep, q) {
			w.answers = append(w.answers, answerIn(a, q))
		} else {
			w.open = true
		}
	}
	return w
}

// mayAskMore reports whether more questions are of use: none is open, people could tell
// something so far, and they were not asked too often.
func mayAskMore(a brain.Assignment, k kind) bool {
	times, unknown := 0, 0
	for _, p := range parts(k) {
		s := ask(a, p)
		if s.open {
			return false
		}
		times += s.times
		if s.unknown {
			unknown++
		}
	}
	return times < maxQuestions*maxAsked && (unknown == 0 || unknown < times)
}

// String lists the elements found, and the missing ones.
func (w Weighing) String() string {
	s := "A bug report"
	if w.kind == feature {
		s = "A feature request"
	}
	s += ". Found: " + List(w.has) + "."
	if len(w.Lacks) > 0 {
		s += " Missing: " + List(w.Lacks) + "."
	}
	if len(w.assumed) > 0 {
		s += " Asked for and not known, so it is assumed: " + List(w.assumed) + "."
	}
	return s
}

func declared(r instance.Result) brain.Outcome { return brain.Outcome{Result: r, Declared: true} }

// List joins names for people.
func List(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// tag is what trackers put before a title: "[Bug]", "feat:", "Feature request:".
var tag = lazyregexp.New(`(?i)^(\[[^\]]{1,30}\]\s*:?\s*|(bug|fix|feat|feature|feature request|enhancement|proposal|question|regression)(\([\w-]+\))?\s*:\s*)+`)

// Said is what people said since the report: answers, then comments and edits of it.
func Said(a brain.Assignment) (texts []string) {
	for _, q := range a.Questions {
		if text, _ := strings.CutPrefix(q.Answer, ToAll); q.Answered && q.To == "" && !leavesOpen(text) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, n := range a.Notes {
		if (isComment(n) || n.Kind == Edited) && !ours(n.Text) {
			texts = append(texts, n.Text)
		}
	}
	return texts
}

// asking is how it stands with the questions about one part.
type asking struct {
	times                   int
	open, answered, unknown bool
}

func ask(a brain.Assignment, p part) (s asking) {
	for _, q := range a.Questions {
		if !p.isAbout(q.Text) {
			continue
		}
		s.times++
		switch {
		case !q.Answered:
			s.open = true
		case leavesOpen(q.Answer):
			s.unknown = true
		case !strings.HasPrefix(q.Answer, ToAll): // else the text itself must show it
			s.answered = true
		}
	}
	return s
}

// settled reports whether the report has by now what the question asks for.
func settled(r report, q instance.Question) bool {
	return slices.ContainsFunc(parts(r.kind), func(p part) bool { return p.isAbout(q.Text) && r.has(p.element) })
}

// answerIn is the answer to a question that was found in what people said: in their own
// words if one of them says it alone.
func answerIn(a brain.Assignment, q instance.Question) instance.QuestionAnswer {
	for _, n := range slices.Backward(a.Notes) {
		if text := strings.TrimSpace(plain(n.Text)); isComment(n) && !ours(n.Text) && tells(q, text) {
			return instance.QuestionAnswer{Question: q.Number, Text: text, By: n.Author}
		}
	}
	return instance.QuestionAnswer{Question: q.Number, Text: "It follows from the report and the comments since."}
}

// leavesOpen reports whether a person cannot tell, or leaves it to us.
func leavesOpen(text string) bool {
	return dunno.MatchString(text) || yours.MatchString(text) ||
		len([]rune(text)) <= maxDunno && anyOf(text, func(l *compiled) *lazyregexp.Regexp { return l.cannotTell })
}

// maxDunno is how long an answer may be that begins with "I do not know" and says no more.
const maxDunno = 60

// dunno is an answer of a person who cannot tell.
var dunno = lazyregexp.New(`(?i)^\W*((sorry|well|hm+)\W+)?(i )?(really )?((don.?t|do not|can.?t|cannot) (know|tell|say|remember)|no idea|no clue|not sure|unknown|unsure|idk|dunno|n/?a|\?+)\b[^\n]{0,40}$|^\s*(\?+|-+)?\s*$`)

// yours is an answer of a person who leaves the choice to us.
var yours = lazyregexp.New(`(?i)^\W*((ok(ay)?|sure|just|please|then|well|no|but|so)\W+)*(go ahead|go on|proceed|carry on|use your (own |best )?judg\w+|your (call|choice)|(it.?s )?up to you|as you (like|see fit|wish)|whatever you|you decide|decide (for )?yourself)\b[^\n]{0,80}$`)
