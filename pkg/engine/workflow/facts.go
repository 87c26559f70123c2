package workflow

// Facts is all that a guard can read, by the names in its cel tags. The engine
// fills it from the instance and the result or signal at hand; nothing else
// decides.
type Facts struct {
	Result   ResultFacts              `cel:"result"`
	Signal   SignalFacts              `cel:"signal"`
	Evidence map[string]EvidenceFacts `cel:"evidence"`
	Instance InstanceFacts            `cel:"instance"`
	Issue    IssueFacts               `cel:"issue"`
	Spend    SpendFacts               `cel:"spend"`

	// Vars by the name a guard reads, "vars.NAME", each of its declared type; one
	// that is missing has its default.
	Vars map[string]any `cel:"-"`
}

// ResultFacts is the owner's result. Status is success, failure or blocked.
type ResultFacts struct {
	Status           string            `cel:"status"`
	ConfidenceScore  float64           `cel:"confidence_score"` // 0 to 1
	IssuesFound      []string          `cel:"issues_found"`
	Questions        []string          `cel:"questions"` // for people, asked by this result
	Next             string            `cel:"next"`      // the proposal, if any
	FailureSignature string            `cel:"failure_signature"`
	Data             map[string]string `cel:"data"`
}

// SignalFacts is a named event from outside.
type SignalFacts struct {
	Name  string            `cel:"name"`
	Actor string            `cel:"actor"`
	Data  map[string]string `cel:"data"`
}

// EvidenceFacts is a check that no brain made, by name ("tests").
type EvidenceFacts struct {
	OK      bool              `cel:"ok"`
	Verdict string            `cel:"verdict"` // pass, fail, pending or unknown
	Commit  string            `cel:"commit"`  // the commit it was made on
	By      string            `cel:"by"`      // the role that made it; empty for one of people's signals, and in old logs
	Failed  []string          `cel:"failed"`
	Data    map[string]string `cel:"data"` // the snapshot it was made from

	// Of tests that were compared with those of the base. All are zero if nobody compared them.
	Shown    bool   `cel:"shown"`    // a test failed on the base and passes on the change
	Unproven string `cel:"unproven"` // why nothing is shown; empty if Shown
	Kind     string `cel:"kind"`     // of the change: code or documents
	Waived   string `cel:"waived"`   // the person who accepted that nothing is shown
	Question string `cel:"question"` // for the tester or people
}

// InstanceFacts is the instance's own past.
type InstanceFacts struct {
	State         string           `cel:"state"`
	Iteration     int64            `cel:"iteration"` // moves made so far
	Returns       int64            `cel:"returns"`   // moves into a state entered before, since it last waited for people
	Visits        map[string]int64 `cel:"visits"`
	Previous      []string         `cel:"previous_states"`
	Loop          bool             `cel:"loop"`           // the loop rule holds
	Repeats       int64            `cel:"repeats"`        // how often in succession the same failure signature came back
	Head          string           `cel:"head"`           // newest commit of the work
	OpenQuestions int64            `cel:"open_questions"` // asked of people, not answered
	Failures      int64            `cel:"failures"`       // in a row, of the state being decided about; for a limit with this failure
	FailuresIn    map[string]int64 `cel:"failures_in"`    // in a row, by state
	WaitingOn     int64            `cel:"waiting_on"`     // instances this one comes after that have not ended well
}

// IssueFacts is the report the instance was opened with.
type IssueFacts struct {
	Title  string   `cel:"title"`
	Body   string   `cel:"body"`
	Labels []string `cel:"labels"`
	Author string   `cel:"author"`
}

// SpendFacts is what the instance has cost so far.
type SpendFacts struct {
	Tokens int64   `cel:"tokens"`
	USD    float64 `cel:"usd"`
	WallMS int64   `cel:"wall_ms"` // time in agents, milliseconds
}
