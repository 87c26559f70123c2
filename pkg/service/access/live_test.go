package access_test

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
)

func TestAnAgentAnswersWithOutputUnderItsOwnRoleAndPeopleAskForIt(t *testing.T) {
	e := newEnv(t)
	of := func(role string) string {
		s, err := subject.Live(role, 7, "acme/widgets/1")
		e.must(err)
		return s
	}
	for _, answers := range []access.Party{developer, tester, viewer, gateway} { // under both roles
		nc := e.server.As(e.T, answers)
		for _, role := range []string{developer.Name, tester.Name} {
			_, err := nc.Subscribe(of(role), func(m *nats.Msg) { _ = m.Respond([]byte(answers.String())) })
			e.must(err)
		}
		e.must(nc.Flush())
	}
	for _, asks := range []access.Party{viewer, actor, admin, orchestrator, gateway, notifier, developer} {
		nc := e.server.As(e.T, asks)
		for _, by := range []access.Party{developer, tester} {
			m, err := nc.Request(of(by.Name), nil, tries)
			if err == nil && string(m.Data) == asks.String() {
				continue // its own subscription
			}
			if looks := asks.Person() || asks == orchestrator; looks != (err == nil) || looks && string(m.Data) != by.String() {
				t.Errorf("%s is answered %v for the %s, %v", asks, m, by.Name, err)
			}
		}
	}
}
