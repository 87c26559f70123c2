package app

import (
	"errors"
	"testing"

	"github.com/signalbox/signalbox/pkg/service"
)

func TestABudgetThatCannotBeReadIsRefusedAtTheStart(t *testing.T) {
	_, err := Settings{Budget: []string{"day=5usd", "role=developer"}}.budgets()
	if usage := new(service.UsageError); !errors.As(err, &usage) {
		t.Errorf("%v", err)
	}
	if all, err := (Settings{Budget: []string{"day=5usd", "role=developer,day=2h"}}).budgets(); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
}
