package role

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
)

func TestABrainIsNamedWithoutItsArguments(t *testing.T) {
	for spec, want := range map[string]string{
		"rules": "rules", "exec:claude --key secret": "exec:claude", "exec: ./dir/fix.sh secret": "exec:fix.sh", "model:anthropic/large": "model:anthropic/large",
	} {
		if got := named(spec, rules.Checker{}).(brain.Named).Name; got != want {
			t.Errorf("%q is named %q, want %q", spec, got, want)
		}
	}
	if !rules.Free(named("rules", rules.Checker{})) || rules.Free(named("exec:x", brain.Chain{})) {
		t.Error("what is free follows from the name")
	}
	if named("rules", nil) != nil {
		t.Error("no brain has a name")
	}
}
