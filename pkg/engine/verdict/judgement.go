package verdict

import "slices"

// Judgement compares the tests of a change with those of its base, test by test.
// It is kept in the log with the evidence it explains. All views read it, so that they
// agree. The JSON names are those of the log's readers.
type Judgement struct {
	Kind   Kind   `json:"kind"`
	Base   string `json:"base,omitempty"`   // the commit before the change
	Change string `json:"change,omitempty"` // the commit that is judged

	// Shown means that at least one test failed on the base and passes on the change, each
	// twice, and that its failure on the base was an assertion. Tests has them.
	Shown bool        `json:"shown"`
	Tests []ShownTest `json:"tests,omitempty"`
	// Unproven says in a short sentence why nothing is shown. It is empty if Shown.
	Unproven string `json:"unproven,omitempty"`
	// Waived is the person who accepted that nothing is shown. It is empty if nobody did.
	Waived string `json:"waived,omitempty"`

	BaseFailures Names      `json:"base_failures,omitzero"` // failed on the base, and still fail or were not run again
	Fixed        Names      `json:"fixed,omitzero"`         // failed on the base and pass on the change
	Broken       Names      `json:"broken,omitzero"`        // passed on the base and fail on the change
	StillRed     Names      `json:"still_red,omitzero"`     // red for the issue, and not green on the change
	Rewritten    Names      `json:"rewritten,omitzero"`     // failed on the base, and do so no more because the test was changed
	Gone         Names      `json:"gone,omitzero"`          // passed on the base and are not run on the change
	NewlySkipped Names      `json:"newly_skipped,omitzero"` // ran on the base and are skipped on the change
	MadeFlaky    Names      `json:"made_flaky,omitzero"`    // pass on the base each time and on the change sometimes
	Flaky        []Flake    `json:"flaky,omitempty"`        // had both outcomes on one commit
	Renamed      []Rename   `json:"renamed,omitempty"`
	Accepted     []Accepted `json:"accepted,omitempty"` // changes of tests that a tester or a person accepted by name

	// Ways is set if the change touches files that decide how it is tested.
	Ways *BothWays `json:"both_ways,omitempty"`

	BaseCount   Count    `json:"base_count,omitzero"`
	ChangeCount Count    `json:"change_count,omitzero"`
	Findings    []string `json:"findings,omitempty"` // what a reviewer should know, a sentence each
	// Question is put to the tester or to people, because no rule decides it. It is empty
	// if there is none.
	Question string `json:"question,omitempty"`
}

// Kind is the kind of a change.
type Kind string

// The kinds of changes.
const (
	Code      Kind = "code"
	Documents Kind = "documents" // only files that no program reads: text, pictures, licences
)

// ShownTest is a test that shows the change to be a solution.
type ShownTest struct {
	Name   string `json:"name"`
	By     string `json:"by"`     // the role that wrote the test, or human; empty: it was there before
	Base   string `json:"base"`   // the commit on which it failed, with the test added to it
	Change string `json:"change"` // the commit on which it passes
	Cause  Cause  `json:"cause"`  // of the failure on the base
	Output string `json:"output"` // of the failure on the base, its first lines
}

// Flake is a test that had both outcomes on one commit.
type Flake struct {
	Name string  `json:"name"`
	Runs []Tally `json:"runs"`
}

// Tally counts the outcomes of a test on a commit.
type Tally struct {
	Commit string `json:"commit"`
	Passed int    `json:"passed"`
	Failed int    `json:"failed"`
}

// Rename is a test that has another name on the change.
type Rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Accepted is a test whose change, removal or failure was accepted.
type Accepted struct {
	Name string `json:"name"`
	By   string `json:"by"` // the role of the tester, or the person
}

// BothWays compares two runs of a change that touches files that judge it: with those
// files as they were on the base, and with all files as the change has them.
type BothWays struct {
	Files   Names  `json:"files"`
	Aside   string `json:"aside"`   // how the run with the files of the base ended, in words
	Changed string `json:"changed"` // how the run with the files of the change ended, in words
	OK      bool   `json:"ok"`      // both passed
}

// Count is how many tests a run had, by outcome.
type Count struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// Names is a list of names, cut to what the log keeps.
type Names struct {
	Names []string `json:"names"`
	More  int      `json:"more,omitempty"` // how many were left out
}

// Len returns how many names there are, those left out included.
func (n Names) Len() int { return len(n.Names) + n.More }

// The limits of what a judgement keeps in the log.
const (
	maxNames     = 500     // of a list
	maxNameBytes = 8 << 10 // of all names of a list
	maxName      = 240     // bytes of one name
	maxShown     = 20      // shown tests, of each with its output
	maxOutput    = 2 << 10 // bytes of an output
	maxTexts     = 20      // flakes, renames, acceptances and findings, of each
	maxText      = 500     // bytes of a sentence
)

// NamesOf returns the names, sorted, each once, cut to what the log keeps.
func NamesOf(all []string) Names {
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	size := 0
	for i, name := range all {
		name = Shorten(name, maxName)
		if size += len(name); i == maxNames || size > maxNameBytes {
			return Names{all[:i], len(all) - i}
		}
		all[i] = name
	}
	return Names{Names: all}
}

// Bounded returns the judgement cut to what the log keeps: 500 names a list, the first
// lines of outputs. How many names were left out is kept.
func (j Judgement) Bounded() Judgement {
	for _, list := range []*Names{&j.BaseFailures, &j.Fixed, &j.Broken, &j.StillRed, &j.Rewritten, &j.Gone, &j.NewlySkipped, &j.MadeFlaky} {
		*list = list.bounded()
	}
	if j.Ways != nil {
		ways := *j.Ways
		ways.Files, ways.Aside, ways.Changed = ways.Files.bounded(), Shorten(ways.Aside, maxText), Shorten(ways.Changed, maxText)
		j.Ways = &ways
	}
	j.Tests = slices.Clone(j.Tests[:min(len(j.Tests), maxShown)])
	for i := range j.Tests {
		t := &j.Tests[i]
		t.Name, t.Output = Shorten(t.Name, maxName), Shorten(t.Output, maxOutput)
	}
	j.Flaky = slices.Clone(j.Flaky[:min(len(j.Flaky), maxTexts)])
	for i := range j.Flaky {
		j.Flaky[i].Name = Shorten(j.Flaky[i].Name, maxName)
	}
	j.Renamed = slices.Clone(j.Renamed[:min(len(j.Renamed), maxTexts)])
	for i := range j.Renamed {
		j.Renamed[i] = Rename{Shorten(j.Renamed[i].From, maxName), Shorten(j.Renamed[i].To, maxName)}
	}
	j.Accepted = slices.Clone(j.Accepted[:min(len(j.Accepted), maxTexts)])
	for i := range j.Accepted {
		j.Accepted[i] = Accepted{Shorten(j.Accepted[i].Name, maxName), Shorten(j.Accepted[i].By, maxName)}
	}
	j.Findings = slices.Clone(j.Findings[:min(len(j.Findings), maxTexts)])
	for i := range j.Findings {
		j.Findings[i] = Shorten(j.Findings[i], maxText)
	}
	j.Unproven, j.Question = Shorten(j.Unproven, maxText), Shorten(j.Question, maxOutput)
	return j
}

func (n Names) bounded() Names {
	cut := NamesOf(slices.Clone(n.Names))
	cut.More += n.More
	return cut
}

// Shorten returns the text, or its beginning with an ellipsis if it has more than max bytes.
// It does not cut within a character.
func Shorten(text string, max int) string {
	const ellipsis = "…"
	if len(text) <= max {
		return text
	}
	end := max - len(ellipsis)
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + ellipsis
}

// Map returns the judgement with f applied to each text that programs print: names of
// tests and files, outputs, and sentences that have them.
func (j Judgement) Map(f func(string) string) Judgement {
	each := func(all []string) []string {
		mapped := make([]string, len(all))
		for i, text := range all {
			mapped[i] = f(text)
		}
		return mapped
	}
	for _, list := range []*Names{&j.BaseFailures, &j.Fixed, &j.Broken, &j.StillRed, &j.Rewritten, &j.Gone, &j.NewlySkipped, &j.MadeFlaky} {
		list.Names = each(list.Names)
	}
	j.Tests, j.Flaky, j.Renamed, j.Accepted = slices.Clone(j.Tests), slices.Clone(j.Flaky), slices.Clone(j.Renamed), slices.Clone(j.Accepted)
	for i := range j.Tests {
		j.Tests[i].Name, j.Tests[i].Output = f(j.Tests[i].Name), f(j.Tests[i].Output)
	}
	for i := range j.Flaky {
		j.Flaky[i].Name = f(j.Flaky[i].Name)
	}
	for i := range j.Renamed {
		j.Renamed[i] = Rename{f(j.Renamed[i].From), f(j.Renamed[i].To)}
	}
	for i := range j.Accepted {
		j.Accepted[i].Name = f(j.Accepted[i].Name)
	}
	if j.Ways != nil {
		ways := *j.Ways
		ways.Files.Names, ways.Aside, ways.Changed = each(ways.Files.Names), f(ways.Aside), f(ways.Changed)
		j.Ways = &ways
	}
	j.Findings, j.Unproven, j.Question = each(j.Findings), f(j.Unproven), f(j.Question)
	return j
}
