package e2e

import (
	"fmt"
	"testing"
)

// defaultManyIssues is the number of issues without SIGNALBOX_SOAK.
const defaultManyIssues = 15

// TestManyWorkAndNeverTwoAtOnce runs three developers on many issues. All three
// work, and no two claims of an issue overlap.
func TestManyWorkAndNeverTwoAtOnce(t *testing.T) {
	t.Parallel()
	const developers = 3
	issues := intFromEnv(t, "SIGNALBOX_SOAK", defaultManyIssues)
	s := startEnv(t, envConfig{Developers: developers})
	var numbers []int
	for i := range issues {
		numbers = append(numbers, s.forge.openIssue(t, fmt.Sprintf("The answer is wrong, once more: %d", i), completeReport))
	}
	for _, n := range numbers {
		s.log.await(t, "the end of "+instanceID(n), hasEnded(instanceID(n)))
	}
	for _, n := range numbers {
		if end := s.log.get(instanceID(n)); end.State != "completed" {
			t.Errorf("%s ended in %s: %s", instanceID(n), end.State, end.Reason)
		}
		if prs := s.forge.pulls(t, n); len(prs) != 1 {
			t.Errorf("%s has the pull requests %v, want one", instanceID(n), prs)
		}
	}
	report := s.log.checkLog(t)
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
