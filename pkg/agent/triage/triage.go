// Package triage guesses the kind of a report, and finds other reports that are probably about
// the same. Both are guesses for people, with their reasons: nothing is decided by them.
package triage

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// The kinds of reports.
const (
	Bug           = "bug"
	Feature       = "feature"
	Question      = "question"
	Documentation = "documentation"
	Unclear       = "unclear" // nothing in the report says which
)

// Duplicate is, like the kinds, the key of a label: that of reports that have likely duplicates.
const Duplicate = "duplicate"

// Keys returns the kinds that a label can be set for, and Duplicate.
func Keys() []string { return []string{Bug, Feature, Question, Documentation, Duplicate} }

// Note is the kind of the note that has a Finding. The newest counts.
const Note = "triage"

// Finding is what triage found out about a report.
type Finding struct {
	Kind       string   `json:"kind"`       // one of the kinds; empty: there was no triage
	Reason     string   `json:"reason"`     // why it is of that kind
	Labels     []string `json:"labels"`     // that were set for it, by the policy of the repository
	Duplicates []Match  `json:"duplicates"` // the most similar first
}

// Match is another report that is probably about the same.
type Match struct {
	Instance string `json:"instance"`
	Reason   string `json:"reason"`
}

// The lines of the text of a finding.
const (
	kindLine      = "kind: "
	labelLine     = "label: "
	duplicateLine = "duplicate: "
	because       = " because "
)

// String returns the finding as the text of a note: a line for the kind, and one for each
// label and duplicate.
func (f Finding) String() string {
	lines := []string{kindLine + f.Kind + because + oneLine(f.Reason)}
	for _, l := range f.Labels {
		lines = append(lines, labelLine+oneLine(l))
	}
	for _, m := range f.Duplicates {
		lines = append(lines, duplicateLine+oneLine(m.Instance)+because+oneLine(m.Reason))
	}
	return strings.Join(lines, "\n")
}

// Parse reads the text of a note. Lines that it does not know are left out.
func Parse(text string) (f Finding) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if rest, ok := strings.CutPrefix(line, kindLine); ok {
			f.Kind, f.Reason, _ = strings.Cut(rest, because)
		} else if rest, ok := strings.CutPrefix(line, labelLine); ok {
			f.Labels = append(f.Labels, rest)
		} else if rest, ok := strings.CutPrefix(line, duplicateLine); ok {
			name, reason, _ := strings.Cut(rest, because)
			f.Duplicates = append(f.Duplicates, Match{name, reason})
		}
	}
	return f
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// sign is what shows that a report is of a kind.
type sign struct {
	kind string
	// labels, forms and titles match a label, a heading of an issue form, and a title.
	labels, forms, titles *lazyregexp.Regexp
}

// signs are in the order in which they count.
var signs = []sign{
	{Documentation,
		lazyregexp.New(`(?i)^(?:(?:type|kind|area|topic|t|c|a)[:/ -] ?)?(?:docs?|documentation)$`),
		lazyregexp.New(`(?i)^(?:path to the|which|affected|link to the)? ?(?:documentation|docs)(?: (?:page|section|issue|url|link|problem))?s?\b`),
		lazyregexp.New(`(?i)^\W*(?:docs?|documentation)(?:\([^)]*\))?\s*[:\]]|\btypos?\b|\breadme\b|\bmisspell`)},
	{Bug,
		lazyregexp.New(`(?i)^(?:(?:type|kind|t|c)[:/ -] ?)?(?:bugs?|bug report|defect|regression|crash|confirmed[- ]bug|kind/bug)$`),
		lazyregexp.New(`(?i)^(?:steps to reproduce|to reproduce|how to reproduce|reproduction|expected (?:behaviou?r|result)|actual (?:behaviou?r|result)|current behaviou?r|describe the bug|what happened|what went wrong|stack ?trace|relevant log output)`),
		lazyregexp.New(`(?i)^\W*(?:bug|fix|regression|crash)(?:\([^)]*\))?\s*[:\]]|\b(?:crash(?:es|ed|ing)?|panics?|segfaults?|fails?|failed|failing|failure|errors?|exceptions?|wrong(?:ly)?|incorrect(?:ly)?|broken|breaks?|hangs?|deadlocks?|leaks?|regression|does(?: not|n't) work|not working|cannot|can't|unable to|race condition|off[- ]by[- ]one)\b`)},
	{Feature,
		lazyregexp.New(`(?i)^(?:(?:type|kind|t|c)[:/ -] ?)?(?:features?|feature[- ]request|enhancements?|improvements?|proposal|new feature)$`),
		lazyregexp.New(`(?i)^(?:is your feature request|describe the solution|describe alternatives|proposed (?:solution|feature)|feature (?:description|request)|use case|motivation|problem to solve|what would you like)`),
		lazyregexp.New(`(?i)^\W*(?:feat|feature|feature request|enhancement|proposal|rfe|idea)(?:\([^)]*\))?\s*[:\]]|^(?:please )?(?:add|support|allow|implement|introduce|provide|enable|make it possible|expose)\b|\bshould (?:be able to|support|allow)\b|\bwould be (?:nice|great|useful)\b`)},
	{Question,
		lazyregexp.New(`(?i)^(?:(?:type|kind|t|c)[:/ -] ?)?(?:questions?|help wanted\?|support|discussion|usage)$`),
		lazyregexp.New(`(?i)^(?:question|your question|what do you want to know|ask (?:a|your) question)\b`),
		lazyregexp.New(`(?i)^\W*(?:question|help|support)\s*[:\]]|^(?:how (?:do|can|to|should|does)|what is|what's|where (?:is|do|can)|why (?:is|does|do)|is it possible|is there (?:a|any)|can (?:i|we|you)|does \w+ support)\b`)},
}

// heading is a heading of an issue form, as GitHub renders it.
var heading = lazyregexp.New(`(?m)^#{2,4} +(.+?)\s*$`)

// trace is output of a program that went wrong.
var trace = lazyregexp.New(`(?m)^\s*(?:panic: |Traceback \(most recent call last\)|goroutine \d+ \[|\s+at \S+ ?\(.*:\d+|thread '.*' panicked|Segmentation fault|AssertionError|[\w.]+(?:Error|Exception): )`)

// KindOf returns the kind of a report and the reason. Labels count more than the headings of
// an issue form, and those more than the title: the title comes last, but for what it begins with.
func KindOf(title, body string, labels []string) (kind, reason string) {
	for _, s := range signs {
		for _, l := range labels {
			if s.labels.MatchString(strings.TrimSpace(l)) {
				return s.kind, "of its label " + quoted(l)
			}
		}
	}
	headings := heading.FindAllStringSubmatch(body, maxHeadings)
	for _, s := range signs {
		for _, h := range headings {
			if s.forms.MatchString(h[1]) {
				return s.kind, "it has the heading " + quoted(h[1])
			}
		}
	}
	title = strings.TrimSpace(title)
	if isQuestion := signs[len(signs)-1].titles; strings.HasSuffix(title, "?") && isQuestion.MatchString(title) {
		return Question, "its title asks " + quoted(isQuestion.FindString(title))
	}
	for _, s := range signs {
		if said := s.titles.FindString(title); said != "" {
			return s.kind, "its title has " + quoted(strings.TrimSpace(said))
		}
	}
	if said := trace.FindString(body); said != "" {
		return Bug, "it shows " + quoted(strings.TrimSpace(said))
	}
	if strings.HasSuffix(title, "?") {
		return Question, "its title is a question"
	}
	return Unclear, "neither labels nor headings nor words say which it is"
}

// maxHeadings is how many headings of a report are read.
const maxHeadings = 30

// quoted shortens a text and puts it in quotation marks.
func quoted(s string) string {
	const most = 60
	if r := []rune(oneLine(s)); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return `"` + oneLine(strings.ReplaceAll(s, `"`, "'")) + `"`
}

// LabelsFor returns the labels that a policy, labels by key, sets for a finding and that the
// report does not have.
func (f Finding) LabelsFor(policy map[string]string, has []string) (all []string) {
	keys := []string{f.Kind}
	if len(f.Duplicates) > 0 {
		keys = append(keys, Duplicate)
	}
	for _, key := range keys {
		label, ok := policy[key]
		if ok && !slices.Contains(all, label) && !slices.ContainsFunc(has, func(l string) bool { return strings.EqualFold(l, label) }) {
			all = append(all, label)
		}
	}
	return all
}

// Sentence returns the kind and its reason for people, "" if there was no triage.
func (f Finding) Sentence() string {
	if f.Kind == "" {
		return ""
	}
	return f.Kind + ": " + f.Reason
}

// Sentence returns the match for people.
func (m Match) Sentence() string { return m.Instance + ": " + m.Reason }
