package e2e

import (
	"fmt"
	"testing"
)

// Three developers and thirty issues: all three work, and no issue is ever
// worked on by two at once.
func TestManyWorkAndNeverTwoAtOnce(t *testing.T) {
	t.Parallel()
	const developers, issues = 3, 30
	s := begin(t, plan{Developers: developers})
	var numbers []int
	for i := range issues {
		numbers = append(numbers, s.forge.open(t, fmt.Sprintf("The answer is wrong, once more: %d", i), complete))
	}
	for _, n := range numbers {
		s.log.until(t, "the end of "+id(n), closed(id(n)))
	}
	for _, n := range numbers {
		if end := s.log.get(id(n)); end.State != "completed" {
			t.Errorf("%s ended in %s: %s", id(n), end.State, end.Reason)
		}
		if prs := s.forge.pulls(t, n); len(prs) != 1 {
			t.Errorf("%s has the pull requests %v, want one", id(n), prs)
		}
	}
	report := s.log.sound(t)
	worked := map[string]int{}
	for _, c := range report.Claims {
		if c.Role == "developer" {
			worked[c.Agent]++
		}
	}
	if len(worked) != developers {
		t.Errorf("these developers worked: %v, want %d", worked, developers)
	}
	if report.Instances != issues {
		t.Errorf("the log has %d instances, want %d", report.Instances, issues)
	}
	t.Logf("%d commits; work by developer: %v", report.Commits, worked)
}
