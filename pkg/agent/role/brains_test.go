package role_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestSpecsAreReadAsTheyAreGiven(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		role   string
		want   role.Specs
		says   string // of the error
	}{
		{"by role", []string{"developer=exec:./fix.sh", "analyst=rules"}, "", role.Specs{"developer": "exec:./fix.sh", "analyst": "rules"}, ""},
		{"by state", []string{"tester.creating_tests=exec:./t.sh"}, "", role.Specs{"tester.creating_tests": "exec:./t.sh"}, ""},
		{"with an equals sign in the command", []string{"developer=exec:env A=b ./fix.sh"}, "", role.Specs{"developer": "exec:env A=b ./fix.sh"}, ""},
		{"without a role, where there is one", []string{"exec:env A=b ./fix.sh"}, "developer", role.Specs{"developer": "exec:env A=b ./fix.sh"}, ""},
		{"rules without a role", []string{"rules"}, "analyst", role.Specs{"analyst": "rules"}, ""},
		{"none", nil, "developer", role.Specs{}, ""},
		{"without a role, where there is none", []string{"exec:./fix.sh"}, "", nil, "ROLE=SPEC"},
		{"without a spec", []string{"developer="}, "", nil, "ROLE=SPEC"},
		{"without a state", []string{"developer.=exec:x"}, "", nil, "ROLE=SPEC"},
		{"without a role before the state", []string{".implementing=exec:x"}, "", nil, "ROLE=SPEC"},
		{"twice", []string{"developer=exec:a", "developer=exec:b"}, "", nil, "twice"},
		{"twice, once without the role", []string{"developer=exec:a", "exec:b"}, "developer", nil, "twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := role.ParseSpecs(c.values, c.role)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil || len(got) != len(c.want) {
				t.Fatalf("read as %v, %v", got, err)
			}
			for who, spec := range c.want {
				if got[who] != spec {
					t.Errorf("%s is %q, want %q", who, got[who], spec)
				}
			}
		})
	}
}

func TestSpecsForRolesThatAreNotThereAreRefused(t *testing.T) {
	specs := role.Specs{"tester.creating_tests": "rules", "tester": "rules", "analyst": "rules"}
	if got := specs.Roles(); !slices.Equal(got, []string{"analyst", "tester"}) {
		t.Errorf("the roles are %v", got)
	}
	if err := specs.Check([]string{"analyst", "tester", "developer"}); err != nil {
		t.Error(err)
	}
	if err := specs.Check([]string{"analyst"}); err == nil || !strings.Contains(err.Error(), "tester") || !strings.Contains(err.Error(), "want one of analyst") {
		t.Errorf("the error is %v", err)
	}
}

func TestBrainsAreBuiltOfSpecs(t *testing.T) {
	for _, c := range []struct {
		name, role string
		specs      role.Specs
		says       string // of the error
	}{
		{"a program", "developer", role.Specs{"developer": "exec:true"}, ""},
		{"a program for one state", "developer", role.Specs{"developer.implementing": "exec:true"}, ""},
		{"rules by name", "analyst", role.Specs{"analyst": "rules"}, ""},
		{"rules by default", "tester", role.Specs{"developer": "exec:true"}, ""},
		{"rules for the checks of a state", "fullstack-developer", role.Specs{"fullstack-developer": "exec:true", "fullstack-developer.testing": "rules"}, ""},
		{"rules by default for who judges checks", "build", nil, ""},
		{"a program for a role nobody knows", "librarian", role.Specs{"librarian": "exec:true"}, ""},
		{"nothing for a role nobody knows", "librarian", nil, "--brain librarian=exec:COMMAND"},
		{"nothing for who needs something", "developer", role.Specs{"tester": "rules"}, "--brain developer=exec:COMMAND"},
		{"rules where there are none", "developer", role.Specs{"developer": "rules"}, "want exec:COMMAND"},
		{"neither", "developer", role.Specs{"developer": "gpt"}, "exec:PRESET"},
		{"a program there is not", "developer", role.Specs{"developer": "exec:./no-such-program.sh"}, "no-such-program.sh"},
		{"one program after another", "developer", role.Specs{"developer": "exec:true a,b, exec:true"}, ""},
		{"a program and then rules", "analyst", role.Specs{"analyst": "exec:true,rules"}, ""},
		{"a second program there is not", "developer", role.Specs{"developer": "exec:true,exec:./no-such-program.sh"}, "no-such-program.sh"},
		{"a provider there is not", "developer", role.Specs{"developer": "model:mistral/large"}, "one of the providers anthropic"},
		{"no program", "developer", role.Specs{"developer": "exec:"}, "developer=exec:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := c.specs.Build(c.role, role.Tools{})
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.For("implementing", workflow.WorkSpec{}); err != nil {
				t.Error(err)
			}
		})
	}
	b, err := role.Specs{"developer.implementing": "exec:true"}.Build("developer", role.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.For("fixing_issues", workflow.WorkSpec{}); !errors.Is(err, role.ErrNoBrain) || !strings.Contains(err.Error(), "fixing_issues") {
		t.Errorf("another state's brain is answered %v", err)
	}
}

func TestARepositoryPermitsBrains(t *testing.T) {
	specs, err := role.ParseSpecs([]string{"developer=exec:true a, exec:true b", "developer.implementing=exec:true c"}, "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := specs.Build("developer", role.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	byRule, err := role.Specs{}.Build("tester", role.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		brains    role.Brains
		state     string
		permitted []string
		links     int    // of a chain
		says      string // why there is none
	}{
		"all":               {b, "fixing_issues", nil, 2, ""},
		"one of two":        {b, "fixing_issues", []string{"exec:true b"}, 1, ""},
		"none of two":       {b, "fixing_issues", []string{"exec:other"}, 0, "developer works with a brain other than exec:other"},
		"a state's own":     {b, "implementing", []string{"exec:true*"}, 0, ""},
		"not a state's own": {b, "implementing", []string{"exec:true b"}, 0, "developer works with a brain other than exec:true b"},
		"rules, unnamed":    {byRule, "running_tests", []string{"exec:true"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.brains.Permitted(test.state, workflow.WorkSpec{}, instance.Configuration{Brains: test.permitted})
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("it ended with %v, want %q", err, test.says)
				}
				return
			}
			chain, _ := got.(brain.Chain)
			if err != nil || got == nil || len(chain) != test.links {
				t.Errorf("%d brains, %v; want %d", len(chain), err, test.links)
			}
		})
	}
}

func TestTheSettingsOfOneRoleAreItsOwnBrains(t *testing.T) {
	all := role.Settings{Brain: []string{"developer=exec:a", "tester.creating_tests=exec:b", "developer.implementing=exec:c"}, Workers: 3}
	for name, want := range map[string][]string{
		"developer": {"developer.implementing=exec:c", "developer=exec:a"}, "tester": {"tester.creating_tests=exec:b"}, "analyst": nil,
	} {
		own, err := all.Of(name)
		if err != nil || !slices.Equal(own.Brain, want) || own.Workers != 3 {
			t.Errorf("%s has %v, %v; want %v", name, own.Brain, err, want)
		}
	}
	if _, err := (role.Settings{}).Of("developer"); !errors.Is(err, role.ErrNoBrain) {
		t.Errorf("a developer without a brain is answered %v", err)
	}
	if _, err := (role.Settings{Brain: []string{"exec:a"}}).Of("developer"); err == nil {
		t.Error("a spec without a role is taken")
	}
}
