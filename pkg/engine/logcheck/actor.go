package logcheck

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// checkActor checks that the actor of a commit may cause the event. The first event shows the command: the
// ones behind it may follow from it by themselves.
func (t *instanceChecker) checkActor(actor string, e instance.Event, first bool) {
	role, agent := instance.AgentRole(actor)
	if !agent {
		role = workflow.Human
	}
	as := func(want string) {
		if agent && role != want {
			t.report(Actor, "%s of %s is by %s", name(e), want, actor)
		}
	}
	switch e := e.(type) {
	case instance.Claimed:
		if !e.Direct {
			as(e.Role)
		}
	case instance.Reported:
		as(e.Role)
	case instance.Moved:
		if e.Override {
			t.checkMay(role, "override")
		}
	}
	if !first {
		return
	}
	switch e.(type) {
	case instance.CancelledBy:
		t.checkMay(role, "cancel")
	case instance.Paused:
		t.checkMay(role, "pause")
	case instance.Resumed:
		t.checkMay(role, "resume")
	case instance.Reopened:
		t.checkMay(role, "reopen")
	case instance.Migrated:
		t.checkMay(role, "migrate")
	case instance.Signalled, instance.Answered, instance.Resolved, instance.BudgetRaised, instance.DayRaised:
		if agent {
			t.report(Actor, "%s is by %s, and is for people", name(e), actor)
		}
	}
}

// checkMay checks that a role may do an action. An action that is not listed is for people.
func (t *instanceChecker) checkMay(role, action string) {
	roles, listed := t.table.May[action]
	if !listed {
		roles = []string{workflow.Human}
	}
	if !slices.Contains(roles, role) {
		t.report(Actor, "%s is by %s; want one of %v", action, role, roles)
	}
}
