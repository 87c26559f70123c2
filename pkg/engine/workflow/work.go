package workflow

import (
	"maps"
	"slices"
	"strings"
)

// WorkSpec is the work in a state in addition to thinking. The
// zero WorkSpec keeps what the owner changes, if anything.
type WorkSpec struct {
	Runs   string `json:"runs,omitempty"`   // RunsTests, RunsChecks or RunsCriteria; empty: nothing is run
	Change string `json:"change,omitempty"` // ChangeRequired or ChangeDropped; empty: a change is kept if there is one
	Does   string `json:"does,omitempty"`   // an action of the role, one of Actions
}

// Values of WorkSpec.Runs.
const (
	RunsTests    = "tests"    // the repository's tests, before the owner judges
	RunsChecks   = "checks"   // tests, lint and type checks, before the owner judges
	RunsCriteria = "criteria" // the acceptance criteria, on the commit that the owner leaves
)

// Values of WorkSpec.Change.
const (
	ChangeRequired = "required" // success without a change is a failure
	ChangeDropped  = "dropped"  // the owner judges; what it changes is dropped
)

// Values of WorkSpec.Does.
const (
	TakeUp          = "take_up"           // judge whether there is anything to work on, and fetch the code
	AskQuestions    = "ask_questions"     // put the open questions to people
	ReadAnswers     = "read_answers"      // read the answers out of what people said
	Plan            = "plan"              // decide how to go about it
	ReadDecision    = "read_decision"     // read a decision out of what people said
	AskForHelp      = "ask_for_help"      // tell people what is in the way
	OpenPullRequest = "open_pull_request" // push the branch and open its pull request
	TendPullRequest = "tend_pull_request" // bring a pull request through its reviews to its merge
	WatchMerge      = "watch_merge"       // watch the checks of a merge commit
	RevertMerge     = "revert_merge"      // propose the revert of a merge
	WriteTests      = "write_tests"       // write tests, or rely on those that exist
	SelfCheck       = "self_check"        // take what the checks say for the result: no brain is asked, unless the state has its own
)

// doers lists by action the roles that can do it; empty: every role can.
var doers = map[string][]string{
	TakeUp:          {"pm"},
	AskQuestions:    {"pm"},
	ReadAnswers:     {"pm"},
	Plan:            {"pm"},
	ReadDecision:    {"pm"},
	AskForHelp:      {"pm"},
	OpenPullRequest: {"pm", "shepherd"},
	TendPullRequest: {"shepherd"},
	WatchMerge:      {"shepherd"},
	RevertMerge:     {"shepherd"},
	WriteTests:      {"tester"},
	SelfCheck:       {},
}

// Actions lists the actions that the role can do, sorted.
func Actions(role string) []string {
	return slices.DeleteFunc(sortedKeys(doers), func(action string) bool { return !canDo(role, action) })
}

func canDo(role, action string) bool {
	roles := doers[action]
	return len(roles) == 0 || slices.Contains(roles, role)
}

// DropsChanges reports whether what the role changes is dropped: where it judges.
func (w WorkSpec) DropsChanges() bool { return w.Change == ChangeDropped || w.Tests() }

// Tests reports whether checks are run on what others left.
func (w WorkSpec) Tests() bool { return w.Runs == RunsTests || w.Runs == RunsChecks }

// WritesCode reports whether the result is judged by the code that it leaves.
func (w WorkSpec) WritesCode() bool { return w.Change == ChangeRequired || w.Runs == RunsCriteria }

// NeedsCode reports whether the work cannot be done without code.
func (w WorkSpec) NeedsCode() bool { return w.WritesCode() || w.Runs != "" }

// String is the work as the definition has it: "{runs: tests}".
func (w WorkSpec) String() string {
	var pairs []string
	for _, p := range []pair{{"runs", w.Runs}, {"change", w.Change}, {"does", w.Does}} {
		if p.value != "" {
			pairs = append(pairs, p.key+": "+p.value)
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// WorkOf returns what the work of the role in the state is. Asked means that the
// role does not work in the state, but answers a question of the role that does.
func (d *Definition) WorkOf(state, role string, asked bool) WorkSpec {
	s, _ := d.State(state)
	switch {
	case asked:
		return s.Answers[role]
	case s.Owner == role:
		return s.Work
	}
	return WorkSpec{}
}

// deriveWork sets what each state asks for. It is what is written or, in a definition in
// which none of it is, what states of that name asked for before it could be.
func (d *Definition) deriveWork() {
	says := slices.ContainsFunc(d.States, func(s State) bool { return s.work != nil || s.answers != nil })
	for i := range d.States {
		s := &d.States[i]
		s.Work, s.Answers = WorkSpec{}, maps.Clone(s.answers)
		switch {
		case s.work != nil:
			s.Work = *s.work
		case !says:
			s.Work = EarlierWork(d.Name, s.Name, s.Owner, false)
			s.Answers = earlierAnswers(d.Name, s.Name)
		}
	}
}

func (c checker) work(s State) {
	if s.work != nil {
		if s.Kind != Work {
			c.add(s.workAt["work"], "%s has no owner whose work that is", s.Name)
		}
		c.spec("work", *s.work, s.workAt)
	}
	if s.answers != nil && s.Kind == Final {
		c.add(s.workAt["answers"], "%s is final: nobody is asked anything there", s.Name)
	}
	for _, role := range sortedKeys(s.answers) {
		c.token("role", role, s.workAt["answers."+role])
		c.spec("answers."+role, s.answers[role], s.workAt)
	}
}

func (c checker) spec(key string, w WorkSpec, at map[string]Position) {
	one := func(name, value string, known ...string) {
		if value != "" && !slices.Contains(known, value) {
			c.unknown(at[key+"."+name], name, value, known)
		}
	}
	one("runs", w.Runs, RunsTests, RunsChecks, RunsCriteria)
	one("change", w.Change, ChangeRequired, ChangeDropped)
	one("does", w.Does, sortedKeys(doers)...)
	if w.DropsChanges() && w.WritesCode() {
		c.add(at[key], "%s drops changes and cannot ask for one: the owner either judges or changes", w)
	}
}

// work checks that the roles can do what they are to do.
func (v *verifier) work(s State) {
	able := func(role, key string, w WorkSpec) {
		if w.Does != "" && !canDo(role, w.Does) {
			v.add(s.workAt[key+".does"], "%s cannot %s: want one of %s, or another owner: %s",
				role, w.Does, strings.Join(Actions(role), ", "), strings.Join(doers[w.Does], ", "))
		}
	}
	able(s.Owner, "work", s.Work)
	for _, role := range sortedKeys(s.Answers) {
		able(role, "answers."+role, s.Answers[role])
	}
}
