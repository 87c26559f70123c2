package app

import (
	"reflect"
	"testing"
	"time"
)

func TestAnOrchestratorMayBeAwayForHalfAMinute(t *testing.T) {
	field, _ := reflect.TypeFor[Settings]().FieldByName("AckWait")
	lease, err := time.ParseDuration(field.Tag.Get("default"))
	if err != nil {
		t.Fatal(err)
	}
	// Agents extend their leases every third of one: so much is left when it goes away.
	if left := lease - lease/3; left < 35*time.Second {
		t.Errorf("of a lease of %v only %v may be left", lease, left)
	}
}
