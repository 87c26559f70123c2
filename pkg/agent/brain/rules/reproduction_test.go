package rules_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestTheTesterWritesTheTestThatTheReportAsksFor(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":   "module example.com/greet\n\ngo 1.22\n",
		"greet.go": "package greet\n\nfunc Hello(name string) string { return \"Helo, \" + name + \"!\" }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := brain.Assignment{
		Dir: dir, State: "creating_tests", Role: "tester", Work: workflow.WorkSpec{Does: workflow.WriteTests},
		Issue: instance.Issue{Number: 1, Title: "Hello is spelled wrong",
			Body: "Steps: call `greet.Hello(\"Ann\")`.\nExpected: `Hello, Ann!`\nActual: `Helo, Ann!`\nWhere: `greet.go`, function `Hello`.\n"},
	}
	out, err := rules.Tester{}.Work(context.Background(), a)
	if err != nil || out.Result.Status != instance.Success || !strings.Contains(out.Result.Summary, "TestHelloIsSpelledWrong") {
		t.Fatalf("the result is %+v, %v, want success with the name of the test", out.Result, err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "reported_hello_is_spelled_wrong_test.go"))
	if err != nil || !strings.Contains(string(content), `want := fmt.Sprint(got), "Hello, Ann!"`) {
		t.Errorf("the test is\n%s\n%v, want it to compare with Hello, Ann!", content, err)
	}
	again, err := rules.Tester{}.Work(context.Background(), a)
	if err != nil || again.Result.Status != instance.Success {
		t.Errorf("where the test is, the result is %+v, %v, want success", again.Result, err)
	}
	if all, err := filepath.Glob(filepath.Join(dir, "*_test.go")); err != nil || len(all) != 1 {
		t.Errorf("the tests are %v, %v, want one", all, err)
	}
	a.Issue.Body = "Steps: call `greet.Bye(\"Ann\")`.\nExpected: `Bye, Ann!`\n"
	if out, err := (rules.Tester{}).Work(context.Background(), a); err != nil || !strings.Contains(out.Result.Summary, "Wrote no tests") {
		t.Errorf("of a function that is not there the result is %+v, %v, want no test", out.Result, err)
	}
}
