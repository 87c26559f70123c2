package app

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
)

// fails has the App of CI report a check run that failed, with what it says of a line.
func (p person) fails(commit, name string) {
	p.w.Helper()
	p.login = "ci[bot]"
	p.do("POST", "/check-runs", object{"name": name, "head_sha": commit, "conclusion": "failure", "output": object{
		"title": "2 problems", "summary": "### check 1, which is red\nIt does not build.", "annotations": []object{{
			"path": "US-1.txt", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "undefined: hello",
		}},
	}})
}

func TestARedCheckIsMendedByTheDeveloper(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	w.ann.approve(s.pull)
	head := s.head()
	w.bob.fails(head, "build")
	s.told()
	asked := w.heard()
	if len(asked) != 1 {
		t.Fatalf("the developer was asked %q", asked)
	}
	for _, want := range []string{"which is red\n", "> run build: failure", "> 2 problems", "> ### check 1, which is red", "> US-1.txt:1: failure: undefined: hello"} {
		if !strings.Contains(asked[0], want) {
			t.Errorf("no %q in\n%s", want, asked[0])
		}
	}
	if s.head() == head {
		t.Fatal("nothing was pushed")
	}
	if said := w.said(s.pull); len(said) != 1 || !strings.Contains(said[0], "I did what was asked.") || !strings.Contains(said[0], "/runs/") {
		t.Errorf("it says on the pull request %q", said)
	}
	w.bob.check(s.head(), "build", "success")
	w.ann.approve(s.pull)
	s.tell()
	s.reaches("merged")
}

func TestARedCheckIsPutToTheDeveloperOnceOnACommit(t *testing.T) {
	w := newEnv(t)
	develop := w.develop
	w.does(func(job agent.Job) change {
		if job.Question != nil {
			return change{says: "It is not ours: the runner has no disk left."}
		}
		return develop(job)
	})
	s := w.begin("US-1", 0).proposed()
	head := s.head()
	w.bob.fails(head, "build")
	w.bob.status(head, "failure")
	s.told()
	w.bob.fails(head, "build") // run again
	in := s.told()
	if asked := w.heard(); len(asked) != 1 || !strings.Contains(asked[0], "> status ci: failure") || s.head() != head {
		t.Errorf("the developer was asked %q", asked)
	}
	if said := w.said(s.pull); len(said) != 1 || !strings.Contains(said[0], "no disk left") {
		t.Errorf("it says on the pull request %q", said)
	}
	s.stands(in, "approvals pending", "no-failing-checks fail")
}
