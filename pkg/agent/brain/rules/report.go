package rules

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// kind is what a report is.
type kind string

const (
	bug     kind = "bug"
	feature kind = "feature"
	// question is one for help: people answer it, and nothing is missing in it.
	question kind = "question"
)

// headings are what usual templates call an element, as title writes them.
var headings = []struct {
	element
	is *lazyregexp.Regexp
}{
	{steps, lazyregexp.New(`^(steps?\b|to reproduce|how to reproduce|reproduc|repro\b|minimal (repro|example)|what (did|do) you do|what i did|test case|how can we reproduce)`)},
	{expected, lazyregexp.New(`^(expect|what (did|do|would) you expect|what i expected|what should|it should|should\b|desired (result|behaviou?r|output)|correct (result|behaviou?r|output)|wanted\b)`)},
	{actual, lazyregexp.New(`^(actual|current (result|behaviou?r|output)|what happen|what (did|do) you (see|get)|what i (saw|got)|what went wrong|what is wrong|observed|got\b|describe the bug|bug description|the bug|error( message)?s?$|stack ?trace|traceback|log( output|s)?$|output$|problem( description)?$|instead$)`)},
	{scope, lazyregexp.New(`^(version|which version|what version|env(ironment)?\b|component|affected|where\b|platform|operating system|os\b|system info|package|module|file|scope|area|location)`)},
	{acceptance, lazyregexp.New(`^(acceptance|definition of done|done when|success criteria|criteria|how (do|will|would) (we|you|i) know|test plan|verification|tests?$)`)},
	{what, lazyregexp.New(`^(describe the (solution|feature)|propos|suggest|solution|feature( request| description)?$|what( would you like| do you want| is wanted)?$|request$|idea$|goal$|desired\b|the change$)`)},
	{why, lazyregexp.New(`^(why\b|motivation|rationale|use ?cases?\b|user story|background|benefit|is your feature request related|problem\b|context$|reason)`)},
}

// named lists the elements that a heading stands for. "Problem" is what happens
// in a bug report and why in a request.
func named(title string) (found []element) {
	for _, h := range headings {
		if h.is.MatchString(title) {
			found = append(found, h.element)
		}
	}
	return append(found, namedIn(title)...)
}

// report is an issue as the analyst reads it.
type report struct {
	kind     kind
	found    map[element]bool
	language *compiled
	crash    bool   // it says that something broke down, and not with which message
	text     string // of it, and of what was said since, without code
}

// read looks for the elements in the issue, and in what was said since.
func read(issue instance.Issue, since []string) report {
	r := report{found: map[element]bool{}}
	known := func(title string) bool { return len(named(title)) > 0 }
	all := sections(issue.Body, known)
	r.kind = kindOf(issue, all)
	text, code := issue.Title+".\n", ""
	for _, s := range all {
		if !s.says() {
			continue
		}
		for _, e := range named(s.title) {
			r.found[e] = true
		}
		text, code = text+s.text+"\n", code+s.code
	}
	for _, said := range since {
		for _, s := range sections(plain(said), known) {
			if !s.says() {
				continue
			}
			for _, e := range named(s.title) {
				r.found[e] = true
			}
			text, code = text+"\n"+s.text, code+s.code
		}
	}
	for _, p := range parts(r.kind) {
		r.found[p.element] = r.found[p.element] || mentions(p.element, text, code)
	}
	r.language, r.text = languageOf(issue.Title+"\n"+issue.Body), text
	if r.kind != bug {
		r.found[what] = r.found[what] || r.found[expected]
		return r
	}
	if fatal.MatchString(text) || anyOf(text, func(l *compiled) *lazyregexp.Regexp { return l.crashes }) {
		// A failure that must never happen implies the expectation: not that. With the steps one can
		// see what happens; without them the message is the first thing to go by.
		r.crash = !r.found[actual]
		r.found[actual] = r.found[actual] || r.found[steps]
		r.found[expected] = true
	}
	return r
}

// says returns the sentence of the report that tells the element; "" if none does alone.
func (r report) says(e element) string {
	for _, s := range sentences.Split(r.text, -1) {
		s = strings.Trim(oneLine(s), " *_>-")
		if n := len([]rune(s)); n > 3 && n <= maxSaid && mentions(e, s, "") {
			return s
		}
	}
	return ""
}

// maxSaid is how many characters of a report a question repeats.
const maxSaid = 120

// sentences are parted where they end before a blank, at any of their ends in Chinese and
// Japanese, and at line ends.
var sentences = lazyregexp.New(`[.!?]+\s+|[。！？]|\n+`)

// has reports whether the report has the element. Of a bug it is clear when it
// is done once doing the steps again shows the expected result.
func (r report) has(e element) bool {
	if e == acceptance && r.kind == bug && r.found[steps] && r.found[expected] {
		return true
	}
	return r.found[e]
}

var (
	bugLabel = lazyregexp.New(`(?i)\b(bug|defect|regression|crash)\b`)
	// questionLabel and questionTitle are how trackers mark questions.
	questionLabel = lazyregexp.New(`(?i)\b(question|support|how.?to)\b`)
	questionTitle = lazyregexp.New(`(?i)^\W*(question|help|how.?to)\W{0,2}[:\]-]`)
	// reports is what questions about a fault have: "How can this return 5?"
	reports      = lazyregexp.New(`(?i)\b(bug|crash\w*|error\w*|fails?|failed|failing|wrong\w*|broken|incorrect\w*|regression|exception|instead of|unexpected\w*|expected)\b`)
	featureLabel = lazyregexp.New(`(?i)\b(enhancement|feature|request|improvement|proposal)\b`)
	bugTitle     = lazyregexp.New(`(?i)^\W*(bug|fix)\b`)
	featureTitle = lazyregexp.New(`(?i)^\W*((feature|feat|enhancement|proposal|rfc|request)\b|((can|could|would) (you|we) )?(please )?(add|support|allow|implement|provide|introduce|let|make it possible|option to|ability to|show|offer)\b)`)
	bugWords     = lazyregexp.New(`(?i)\b(bug|crash\w*|panic\w*|errors?|fail\w*|wrong\w*|broken|incorrect\w*|regression|exception|does ?n.?t|does not|is ?n.?t|instead of|unexpected\w*)\b`)
	featureWords = lazyregexp.New(`(?i)\b(feature|would be (nice|great|good|useful|helpful)|would like|i'd like|please add|add support|ability to|an option|it would help|wish|could you add|we need|i need)\b`)
)

// kindOf goes by labels, then the title, then the template, then the words.
func kindOf(issue instance.Issue, all []section) kind {
	labels := strings.Join(issue.Labels, " ")
	switch {
	case bugLabel.MatchString(labels):
		return bug
	case featureLabel.MatchString(labels):
		return feature
	case questionLabel.MatchString(labels), asksForHelp(issue, all):
		return question
	case bugTitle.MatchString(issue.Title):
		return bug
	case featureTitle.MatchString(issue.Title):
		return feature
	}
	var has []element
	for _, s := range all {
		has = append(has, named(s.title)...)
	}
	switch {
	case slices.Contains(has, steps) || slices.Contains(has, actual) && slices.Contains(has, expected):
		return bug
	case slices.Contains(has, what):
		return feature
	}
	text := issue.Title + "\n" + issue.Body
	wishes := len(featureWords.FindAllString(text, -1))
	for _, l := range spoken {
		if l.wishes != nil {
			wishes += len(l.wishes.FindAllString(text, -1))
		}
	}
	if wishes > len(bugWords.FindAllString(text, -1)) && !anyOf(text, func(l *compiled) *lazyregexp.Regexp { return l.told[actual] }) {
		return feature
	}
	return bug
}

// asksForHelp reports whether the title is a question for help, and nothing in the report is
// of a fault.
func asksForHelp(issue instance.Issue, all []section) bool {
	title := strings.TrimSpace(tag.ReplaceAllString(strings.TrimSpace(issue.Title), ""))
	asked := questionTitle.MatchString(issue.Title) || anyOf(title, func(l *compiled) *lazyregexp.Regexp { return l.asksForHelp })
	text, code := issue.Title+"\n", ""
	for _, s := range all {
		if len(named(s.title)) > 0 && s.says() {
			return false // it follows a template
		}
		text, code = text+s.text, code+s.code
	}
	wished := changes.MatchString(title) || anyOf(title, func(l *compiled) *lazyregexp.Regexp { return l.wishes })
	return asked && !wished && !fatal.MatchString(text) && !trace.MatchString(text) && !trace.MatchString(code) && !reports.MatchString(text)
}
