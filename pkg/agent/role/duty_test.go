package role_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestADutyIsWorkOfAState(t *testing.T) {
	for value, want := range map[string]workflow.WorkSpec{
		"verify=tests":           {Runs: workflow.RunsTests},
		"verify=checks":          {Runs: workflow.RunsChecks},
		"verify=judges":          {Change: workflow.ChangeDropped},
		"verify=tests,judges":    {Runs: workflow.RunsTests, Change: workflow.ChangeDropped},
		"verify=changes":         {Change: workflow.ChangeRequired},
		"verify=accepts":         {Runs: workflow.RunsCriteria},
		"verify=changes,accepts": {Runs: workflow.RunsCriteria, Change: workflow.ChangeRequired},
	} {
		got, err := role.ParseDuties([]string{"other=tests", value})
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]workflow.WorkSpec{"other": {Runs: workflow.RunsTests}, "verify": want}
		if !maps.Equal(got, all) {
			t.Errorf("%s is %v, want %v", value, got, all)
		}
	}
}

func TestADutyThatIsNoneIsRefused(t *testing.T) {
	for value, says := range map[string]string{
		"verify": "want STATE=DUTY", "=tests": "want STATE=DUTY", "verify=": "want STATE=DUTY", "verify=walks": "accepts, changes, checks, judges, tests",
		"verify=tests,changes": "dropped", "verify=judges,changes": "dropped", "verify=accepts,checks": "dropped",
	} {
		if _, err := role.ParseDuties([]string{value}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is answered %v", value, err)
		}
	}
}

func TestADutyCountsWhereTheStateSaysNothing(t *testing.T) {
	w := newEnv(t, map[string]string{})
	job := w.job("developer", "lending")
	for _, c := range []struct {
		says     workflow.WorkSpec
		question bool
		fails    bool
	}{
		{workflow.WorkSpec{}, false, true},
		{workflow.WorkSpec{Change: workflow.ChangeDropped}, false, false},
		{workflow.WorkSpec{}, true, false},
	} {
		job.Work, job.Question = c.says, nil
		if c.question {
			job.Question = w.in("issue", "developer", "lending", "Why?").Question
		}
		coder := w.coder("developer", saying(instance.Success))
		coder.Duties = map[string]workflow.WorkSpec{"lending": {Change: workflow.ChangeRequired}}
		if _, err := coder.Work(t.Context(), job); err != nil != c.fails {
			t.Errorf("work %v, asked: %v: %v", c.says, c.question, err)
		}
	}
}

func TestASelfCheckNeedsNoBrainUnlessTheStateHasItsOwn(t *testing.T) {
	own, others := rules.Tester{}, rules.Navigator{}
	b := role.Brains{Role: "developer", Default: others}
	check := workflow.WorkSpec{Runs: workflow.RunsTests, Does: workflow.SelfCheck}
	if got, err := b.For("testing", check); err != nil || got != (rules.Checker{}) {
		t.Errorf("it is %T, %v", got, err)
	}
	if got, err := b.For("testing", workflow.WorkSpec{Runs: workflow.RunsTests}); err != nil || got != others {
		t.Errorf("without a self-check it is %T, %v", got, err)
	}
	b.State = map[string]brain.Brain{"testing": own}
	if got, err := b.For("testing", check); err != nil || got != own {
		t.Errorf("with a brain of its own it is %T, %v", got, err)
	}
}
