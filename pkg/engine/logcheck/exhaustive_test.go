package logcheck_test

import (
	"os"
	"reflect"
	"regexp"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/wire/wiretest"
)

// A new event fails here until the checker has a case for it.
func TestTheCheckerHasACaseForEveryEvent(t *testing.T) {
	checker, err := os.ReadFile("instance_checker.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range wiretest.Events(t) {
		name := reflect.TypeOf(e).Name()
		if !regexp.MustCompile(`(?m)^\t(case |\t).*instance\.` + name + `[,:]`).Match(checker) {
			t.Errorf("instance_checker.go: there is no case for %s", name)
		}
	}
}
