package resolve

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Outcome is what --json prints.
type Outcome struct {
	Instance   string   `json:"instance"`
	Workflow   string   `json:"workflow"`
	State      string   `json:"state"`
	Reason     string   `json:"reason"`
	Branch     string   `json:"branch"`               // empty: none
	Unfinished string   `json:"unfinished,omitempty"` // branch with the work of a run that ended without one
	Base       string   `json:"base"`                 // commit that the work started from
	Head       string   `json:"head"`                 // newest commit of the work
	Pushed     string   `json:"pushed,omitempty"`     // where the branch was pushed to
	Commits    []Commit `json:"commits"`
	Tests      *Tests   `json:"tests"` // null: no tests were run

	Shown    bool                `json:"shown"`    // a test failed on the base and passes on the head
	Unproven string              `json:"unproven"` // why no test shows the change; empty if one does, or if there is no change
	ShownBy  []verdict.ShownTest `json:"shown_by"` // the tests that show it, with the commits on which they failed and pass

	Iterations int        `json:"iterations"`
	Questions  []Question `json:"questions"`
	Spend      Spend      `json:"spend"`

	PullRequest *PullRequest    `json:"pull_request"`       // null: there is none
	Document    json.RawMessage `json:"document,omitempty"` // of the lifecycle, if it has one
}

// PullRequest is the text for a pull request of the branch.
type PullRequest struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Draft bool   `json:"draft,omitempty"` // no test shows the change to be right: a person ends the draft
	URL   string `json:"url,omitempty"`   // on the forge that it was opened on

	Evidence *rules.ChangeEvidence `json:"evidence"` // the criteria with the tests that show them; null: there is no change
}

// Commit is one commit of the branch, oldest first.
type Commit struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
}

// Tests is the newest test run.
type Tests struct {
	OK      bool     `json:"ok"`
	Commit  string   `json:"commit"`
	Command string   `json:"command"`
	Passed  int      `json:"passed"`
	Failed  []string `json:"failed"`
}

// Question is a question of the instance.
type Question struct {
	Number   int    `json:"number"`
	Question string `json:"question"`
	Answered bool   `json:"answered"`
	Answer   string `json:"answer"`
}

// Spend is the cost of the work.
type Spend struct {
	TokensIn  int64   `json:"tokens_in"`
	TokensOut int64   `json:"tokens_out"`
	USD       float64 `json:"usd"`
	WallMS    int64   `json:"wall_ms"`
}

// outcome returns the outcome without branch, commits and pull request.
func outcome(in *pb.Instance, s source) Outcome {
	o := Outcome{
		Instance: in.GetInstance(), Workflow: in.GetWorkflow(), State: in.GetState(), Reason: in.GetReason(), Base: in.GetBase(),
		Head:    in.GetHead(),
		Commits: []Commit{}, Iterations: int(in.GetIteration()), Questions: []Question{}, ShownBy: []verdict.ShownTest{},
		Spend: Spend{int64(in.GetSpend().GetTokensIn()), int64(in.GetSpend().GetTokensOut()), in.GetSpend().GetUsd(),
			int64(in.GetSpend().GetWallMs())},
	}
	if o.Base == "" {
		o.Base = s.head
	}
	for _, e := range in.GetEvidence() {
		if e.GetName() == "tests" {
			o.Tests = &Tests{e.GetOk(), e.GetCommit(), e.GetCommand(), int(e.GetPassed()), append([]string{}, e.GetFailed()...)}
		}
	}
	proof := proofOf(in)
	o.Shown, o.Unproven, o.ShownBy = proof.Shown, proof.Reason, append(o.ShownBy, proof.Judgement.Tests...)
	for _, q := range in.GetQuestions() {
		o.Questions = append(o.Questions, Question{int(q.GetNumber()), q.GetText(), q.GetAnswered(), q.GetAnswer()})
	}
	return o
}

// commits returns the commits of branch since the base, oldest first.
func (s source) commits(ctx context.Context, branch string) ([]Commit, error) {
	text, err := s.git.Run(ctx, "log", "--reverse", "--format=%H %s", s.head+"..refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	list := []Commit{}
	for line := range strings.Lines(text) {
		id, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		list = append(list, Commit{id, subject})
	}
	return list, nil
}
