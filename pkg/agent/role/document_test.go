package role_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/pipelinerole"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// documents is a document that says what happens to it. It implements role.Document.
type documents struct {
	pipelinerole.Document
	said brain.Outcome
}

func (documents) Render(brain.Assignment) ([]byte, error) { return []byte("{}"), nil }

func (d documents) Read(brain.Assignment, []byte, []byte) (brain.Outcome, error) { return d.said, nil }

// runs is a brain that runs the script in a lifecycle with that document.
func (e *env) runs(script string, said brain.Outcome) brain.Brain {
	e.Helper()
	brains, err := role.Specs{"writer": "exec:" + script}.Build("writer", role.Tools{Document: documents{said: said}})
	if err != nil {
		e.Fatal(err)
	}
	return brains.Default
}

func TestTheDocumentIsNoPartOfTheChange(t *testing.T) {
	said := brain.Outcome{Declared: true, Result: instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "Written", Sections: map[string]string{"writer": "{}", "review": "{}"}}}
	for name, script := range map[string]string{
		"left to the runtime": `echo x > a.sh; echo '{"a":1}' > issue-state.json`,
		"committed by itself": `echo x > a.sh; echo '{"a":1}' > issue-state.json; git add -A; git commit -q -m mine`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, map[string]string{})
			job := w.in("pipeline", "writer", "writer", "")
			job.Writes = []string{"writer"}
			r, err := w.do(job, w.runs(script, said))
			if err != nil || r.Status != instance.Success || len(r.Sections) != 1 || len(r.IssuesFound) != 1 || !strings.Contains(r.IssuesFound[0], "section review") {
				t.Fatalf("it ended with %+v, %v", r, err)
			}
			if w.content("a.sh", r) != "x" || w.content("issue-state.json", r) != "" {
				t.Error("the commit has the document, or lacks the change")
			}
			if _, stat, err := w.node.Log(t.Context(), specOf(w.job("writer", "writer", r))); err != nil || strings.Contains(stat, "issue-state") {
				t.Errorf("the change is %s, %v", stat, err)
			}
		})
	}
}

func TestTheDocumentAloneIsNoChange(t *testing.T) {
	w := newEnv(t, map[string]string{})
	said := brain.Outcome{Declared: true, Result: instance.Result{Status: instance.Success, Summary: "Written"}}
	if r, err := w.do(w.in("pipeline", "writer", "writer", ""), w.runs("echo 1 > issue-state.json", said)); err == nil || !strings.Contains(err.Error(), "no change") {
		t.Errorf("it ended with %+v, %v", r, err)
	}
}

func TestAQuestionInTheDocumentIsAsked(t *testing.T) {
	w := newEnv(t, map[string]string{})
	said := brain.Outcome{Asks: []instance.Inquiry{{To: "analyst", Question: "Where?"}}}
	asking := new(agent.ErrAsk)
	r, err := w.do(w.in("pipeline", "writer", "writer", ""), w.runs("echo x > a.sh; echo 1 > issue-state.json", said))
	if !errors.As(err, &asking) || asking.Questions[0] != said.Asks[0] || asking.Head == "" || w.content("issue-state.json", r) != "" {
		t.Errorf("it ended with %+v, %v", r, err)
	}
}
