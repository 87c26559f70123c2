package app

import "testing"

// A bot's comment is no signal, and our check says nothing new: what told of them needs
// not be looked at.
func TestADeliveryOfWhatABotDidIsNotLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		event, body string
		items       int
	}{
		"a person's comment": {"issue_comment", `{"action":"created","issue":{"number":1},"comment":{"user":{"type":"User"}},"repository":{"full_name":"a/b"}}`, 1},
		"a bot's":            {"issue_comment", `{"action":"created","issue":{"number":1},"comment":{"user":{"type":"Bot"}},"repository":{"full_name":"a/b"}}`, 0},
		"a bot's on a pull request": {"issue_comment",
			`{"action":"created","issue":{"number":1,"pull_request":{}},"comment":{"user":{"type":"Bot"}},"repository":{"full_name":"a/b"}}`, 1},
		"a comment of nobody": {"issue_comment", `{"action":"created","issue":{"number":1},"comment":{"user":null},"repository":{"full_name":"a/b"}}`, 1},
		"a check":             {"check_run", `{"action":"completed","check_run":{"id":1,"head_sha":"c0ffee","conclusion":"failure","name":"build","pull_requests":[{"number":1}]},"repository":{"full_name":"a/b"}}`, 1},
		"our check":           {"check_run", `{"action":"completed","check_run":{"id":1,"head_sha":"c0ffee","conclusion":"failure","name":"Signalbox gates","pull_requests":[{"number":1}]},"repository":{"full_name":"a/b"}}`, 0},
		"an issue":            {"issues", `{"action":"opened","issue":{"number":1},"repository":{"full_name":"a/b"}}`, 1},
	} {
		if d, err := readDelivery(c.event, "a", []byte(c.body)); err != nil || len(d.items)+len(d.facts) != c.items || d.repo != "a/b" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}
