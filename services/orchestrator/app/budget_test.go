package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
)

func TestABudgetThatCannotBeReadIsRefusedAtTheStart(t *testing.T) {
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	for text, says := range map[string]string{
		"role=developer":          "--budget",
		"role=developr,day=5usd":  `did you mean "developer"?`,
		"role=zookeeper,day=5usd": `no lifecycle has a role "zookeeper"`,
	} {
		_, err := Settings{Budget: []string{"day=5usd", text}}.budgets(defs)
		if usage := new(service.UsageError); !errors.As(err, &usage) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	if all, err := (Settings{Budget: []string{"day=5usd", "role=developer,day=2h"}}).budgets(defs); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
}
