package subject

import "testing"

// FuzzParse holds that any subject is parsed or refused.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"sb.evt.work.issue.received.a", "sb.evt.note.issue.received.a=2Eb", "sb.api.claim", "sb.api.agent.pm.report", "sb.dead.pm.x", "sb.evt.>", "..."} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		_, _ = ParseEvent(s)
		_, _, _ = ParseDead(s)
		_, _ = ParseTimer(s)
		_, _ = ParseAPI(s)
		_, _, _ = ParseAgent(s)
	})
}
