package exec

import "testing"

// Gemini and opencode tell on standard error only that they ask their model again.
func TestWhatIsLoggedOfAModelTellsThatItIsWaitedFor(t *testing.T) {
	const streamError = `timestamp=2026-11-24T00:10:44Z level=ERROR run=1 message="stream error" providerID=p `
	for name, c := range map[string]struct {
		answer, said, logged string
		waits                bool
		status               int
	}{
		"gemini asks again":            {"gemini-json", `{"type":"message","role":"assistant","content":"I look."}`, "Attempt 3 failed with status 529. Retrying with backoff... x", true, 529},
		"gemini quotes a person":       {"gemini-json", `{"type":"message","role":"assistant","content":"I look."}`, "> Attempt 3 failed with status 529. Retrying", false, 0},
		"opencode asks again":          {"opencode-json", `{"type":"text","part":{"text":"I look."}}`, streamError + "small=false agent=build", true, 0},
		"opencode gets no title":       {"opencode-json", `{"type":"text","part":{"text":"I look."}}`, streamError + "small=true agent=title", false, 0},
		"opencode has another trouble": {"opencode-json", `{"type":"text","part":{"text":"I look."}}`, `timestamp=2026 level=ERROR run=1 message="no such file" small=false `, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answer{}
			readers()[c.answer](a, []byte(c.said))
			asides()[c.answer](a, []byte(c.logged))
			if a.waits() != c.waits || a.status != c.status {
				t.Errorf("waits %v, status %d", a.waits(), a.status)
			}
			readers()[c.answer](a, []byte(c.said))
			if a.waits() {
				t.Error("it waits, though the model has answered since")
			}
		})
	}
}
