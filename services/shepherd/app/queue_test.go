package app

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ticking returns a clock that moves by a second whenever a person looks: the forge's times
// have no more, and the order of two decides here.
func ticking() func() time.Time {
	start, looks := time.Now(), new(atomic.Int64)
	return func() time.Time { return start.Add(time.Duration(looks.Add(1)) * time.Second) }
}

// queues gives trunk a merge queue whose groups need the check ci.
func (p person) queues() {
	p.w.Helper()
	p.do("POST", "/rulesets", object{
		"name": "queue", "target": "branch", "enforcement": "active",
		"conditions": object{"ref_name": object{"include": []string{"~DEFAULT_BRANCH"}, "exclude": []string{}}},
		"rules": []object{
			{"type": "merge_queue", "parameters": object{"merge_method": "SQUASH"}},
			{"type": "required_status_checks", "parameters": object{"required_status_checks": []object{{"context": "ci"}}}},
		},
	})
}

// inQueue has a story that every gate passes of put in the queue, and returns it with the
// commit that is tested there.
func (e *env) inQueue() (s *tale, group string) {
	e.Helper()
	e.ann.queues()
	s = e.begin("US-1", 0).proposed()
	e.ann.approve(s.pull)
	e.bob.status(s.head(), "success")
	in := s.told()
	if says := in.GetLastResult().GetSummary(); !strings.Contains(says, "in the merge queue of trunk") || s.on()["merged"] == true {
		e.Fatalf("it says %q", says)
	}
	return s, e.ann.branchHead("gh-readonly-queue/trunk/pr-" + text10(s.pull))
}

func TestAMergeQueueMerges(t *testing.T) {
	w := newEnvAt(t, ticking())
	s, group := w.inQueue()
	in := s.told()
	if says := in.GetLastResult().GetSummary(); !strings.Contains(says, "number 1 in the merge queue") {
		t.Errorf("while it waits it says %q", says)
	}
	w.bob.status(group, "success")
	s.tell()
	in = s.reaches("merged")
	if w.merged() != 0 || evidenceOf(in, "merged").GetData()["sha"] != group {
		t.Errorf("merged by %d calls as %v, want %s by the queue", w.merged(), evidenceOf(in, "merged").GetData(), group)
	}
}

func TestWhatFailsInTheMergeQueueIsPutToTheDeveloper(t *testing.T) {
	w := newEnvAt(t, ticking())
	s, group := w.inQueue()
	head := s.head()
	w.ann.pushes("trunk", "other.txt", "of another person\n")
	s.told() // the group is made again on what trunk is now
	if again := w.ann.branchHead("gh-readonly-queue/trunk/pr-" + text10(s.pull)); again == group {
		t.Fatal("the queue tests what trunk was")
	}
	w.bob.status(w.ann.branchHead("gh-readonly-queue/trunk/pr-"+text10(s.pull)), "failure")
	s.told()
	asked := w.heard()
	if len(asked) != 1 || !strings.Contains(asked[0], "> queue merge queue: taken out") || !strings.Contains(asked[0], "failed checks") ||
		!strings.Contains(asked[0], "### merged") {
		t.Fatalf("the developer was asked %q", asked)
	}
	if s.head() == head {
		t.Fatal("nothing was pushed")
	}
	w.ann.approve(s.pull)
	w.bob.status(s.head(), "success")
	s.told()
	w.bob.status(w.ann.branchHead("gh-readonly-queue/trunk/pr-"+text10(s.pull)), "success")
	s.tell()
	s.reaches("merged")
}

func TestAHoldTakesItOutOfTheMergeQueue(t *testing.T) {
	w := newEnvAt(t, ticking())
	s, group := w.inQueue()
	w.ann.do("POST", path("/issues/%d/labels", s.pull), object{"labels": []string{"hold"}})
	in := s.told()
	if says := in.GetLastResult().GetSummary(); !strings.Contains(says, "taken out of the merge queue") {
		t.Errorf("it says %q", says)
	}
	w.bob.status(group, "success")
	if s.on()["merged"] == true {
		t.Fatal("what was held is merged")
	}
	w.ann.pushes("trunk", "other.txt", "of another person\n") // what is tested now is another commit
	w.ann.do("DELETE", path("/issues/%d/labels/hold", s.pull), nil)
	s.told()
	w.bob.status(w.ann.branchHead("gh-readonly-queue/trunk/pr-"+text10(s.pull)), "success")
	s.tell()
	s.reaches("merged")
}

func TestWhoTakesItOutOfTheMergeQueueIsHeeded(t *testing.T) {
	w := newEnvAt(t, ticking())
	s, _ := w.inQueue()
	if err := w.forge.Client("ann").Dequeue(w.ctx, widgets, s.pull); err != nil {
		t.Fatal(err)
	}
	in := s.told()
	if says := in.GetLastResult().GetSummary(); !strings.Contains(says, "ann took it out of the merge queue of trunk") || len(w.heard()) != 0 {
		t.Errorf("it says %q, and the developer was asked %q", says, w.heard())
	}
	if err := w.forge.Client("ann").Enqueue(w.ctx, widgets, s.pull, s.head()); err != nil {
		t.Fatal(err)
	}
	w.bob.status(w.ann.branchHead("gh-readonly-queue/trunk/pr-"+text10(s.pull)), "success")
	s.tell()
	s.reaches("merged")
}
