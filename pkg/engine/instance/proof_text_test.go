package instance_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

func TestASentenceSaysWhetherTestsShowTheWork(t *testing.T) {
	test := func(name string) verdict.ShownTest {
		return verdict.ShownTest{Name: name, By: "tester", Base: "0123456789abcdef", Change: "fedcba9876543210"}
	}
	shown := func(tests ...verdict.ShownTest) instance.Proof {
		return instance.Proof{Shown: true, Judged: true, Judgement: verdict.Judgement{Shown: true, Tests: tests}}
	}
	for _, c := range []struct {
		name, want string
		proof      instance.Proof
	}{
		{"no work", "", instance.Proof{}},
		{"one test", "TestA failed on 0123456789 and passes now (written by the tester)", shown(test("TestA"))},
		{"two tests", "TestA failed on 0123456789 and passes now, and so does 1 more test (written by the tester)", shown(test("TestA"), test("TestB"))},
		{"three tests", "TestA failed on 0123456789 and passes now, and so do 2 more tests (written by the tester)", shown(test("TestA"), test("TestB"), test("TestC"))},
		{"a test that was there before", "TestA failed on c1 and passes now", shown(verdict.ShownTest{Name: "TestA", Base: "c1"})},
		{"nothing shown", "UNPROVEN: all tests passed before, too", instance.Proof{Judged: true, Reason: "all tests passed before, too"}},
		{"a person accepted that", "UNPROVEN: all tests passed before, too; ann accepted that", instance.Proof{Judged: true, Reason: "all tests passed before, too", Waived: "ann"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.proof.Sentence(); got != c.want {
				t.Errorf("the sentence is %q, want %q", got, c.want)
			}
		})
	}
}
