package logcheck_test

import (
	"os"
	"regexp"
	"testing"
)

// A new event fails here until the checker has a case for it.
func TestTheCheckerHasACaseForEveryEvent(t *testing.T) {
	events, err := os.ReadFile("../instance/event.go")
	if err != nil {
		t.Fatal(err)
	}
	checker, err := os.ReadFile("instance_checker.go")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^func \((\w+)\) event\(\)`).FindAllSubmatch(events, -1)
	if len(all) < 20 {
		t.Fatalf("found only %d events", len(all))
	}
	for _, m := range all {
		if !regexp.MustCompile(`(?m)^\t(case |\t).*instance\.` + string(m[1]) + `[,:]`).Match(checker) {
			t.Errorf("there is no case for %s", m[1])
		}
	}
}
