package app

import "testing"

// A bot's comment is no signal, and our check says nothing new: what told of them needs
// not be looked at.
func TestADeliveryOfWhatABotDidIsNotLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		event, body string
		items       int
	}{
		"a person's comment": {"issue_comment", `{"issue":{"number":1},"comment":{"user":{"type":"User"}},"repository":{"full_name":"a/b"}}`, 1},
		"a bot's":            {"issue_comment", `{"issue":{"number":1},"comment":{"user":{"type":"Bot"}},"repository":{"full_name":"a/b"}}`, 0},
		"a bot's on a pull request": {"issue_comment",
			`{"issue":{"number":1,"pull_request":{}},"comment":{"user":{"type":"Bot"}},"repository":{"full_name":"a/b"}}`, 1},
		"a comment of nobody": {"issue_comment", `{"issue":{"number":1},"comment":{"user":null},"repository":{"full_name":"a/b"}}`, 1},
		"a check":             {"check_run", `{"check_run":{"name":"build","pull_requests":[{"number":1}]},"repository":{"full_name":"a/b"}}`, 1},
		"our check":           {"check_run", `{"check_run":{"name":"Signalbox gates","pull_requests":[{"number":1}]},"repository":{"full_name":"a/b"}}`, 0},
		"an issue":            {"issues", `{"issue":{"number":1},"repository":{"full_name":"a/b"}}`, 1},
	} {
		if d, err := readDelivery(c.event, []byte(c.body)); err != nil || len(d.items) != c.items || d.repo != "a/b" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}
