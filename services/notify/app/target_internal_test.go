package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTargetsAreRead(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const key = "whsec_c2VjcmV0LW9mLXRoZS1yZWNlaXZlci1vZi1ub3Rlcw=="
	put("url", "https://hooks.example/T0PSECRET\n")
	put("key", key+"\n")
	all, err := readTargets(put("good", "team:\n  chat: ntfy://ntfy.example/topic\nops:\n  webhook_file: url\n  secret_file: key\n  events: [failed]\n  repositories: [acme/*]\n"), time.Now)
	if err != nil || len(all) != 2 || all[0].name != "ops" || all[0].sender.(*webhook).url != "https://hooks.example/T0PSECRET" {
		t.Fatalf("%+v: %v", all, err)
	}
	ops, team := all[0], all[1]
	for _, c := range []struct {
		target target
		events []string
		repo   string
		want   bool
	}{
		{ops, []string{Failed}, "acme/widgets", true}, {ops, []string{Failed}, "other/widgets", false}, {ops, []string{Waits}, "acme/widgets", false},
		{team, []string{Failed}, "", true}, {team, []string{Budget, Waits}, "", true}, {team, []string{Completed}, "", false},
	} {
		if got := c.target.wants(fact{events: c.events}, c.repo, nil); got != c.want {
			t.Errorf("%s wants %v of %q: %v", c.target.name, c.events, c.repo, got)
		}
	}
	chosen := map[string]string{"ops": "completed,waits", "team": "", "other": "failed"}
	for _, c := range []struct {
		target target
		event  string
		repo   string
		want   bool
	}{
		{ops, Completed, "acme/widgets", true}, {ops, Failed, "acme/widgets", false}, // its choice stands in place of the operator's
		{ops, Completed, "other/widgets", false}, // the repositories are the operator's
		{team, Waits, "acme/widgets", false},     // none
		{target{name: desktopName, events: []string{Failed}}, Failed, "acme/widgets", true},
	} {
		if got := c.target.wants(fact{events: []string{c.event}}, c.repo, chosen); got != c.want {
			t.Errorf("%s wants %s of %q, by the repository's choice: %v", c.target.name, c.event, c.repo, got)
		}
	}
	for text, want := range map[string]string{
		"":                                  "want a target",
		"team: {}":                          "team: want either a webhook or a chat",
		"team: T0PSECRET":                   "f:1",
		"team: {wehbook: T0PSECRET}":        "wehbook",
		"team: {chat: 'slack://T0PSECRET'}": "team: chat: want an address",
		"team: {chat: 'logger://'}":         "team: chat: want the address of a chat",
		"team: {webhook: 'ftp://h/T0PSECRET', secret: " + key + "}":  "https:// or http://",
		"team: {webhook: 'https://h/T0PSECRET'}":                     "want a secret",
		"team: {webhook: 'https://h/T0PSECRET', secret: T0PSECRET}":  "at least 24 bytes",
		"team: {webhook: 'https://h/T0PSECRET', secret: whsec_T0P!}": "base64",
		"team: {webhook: 'https://h/T0PSECRET', webhook_file: url}":  "either webhook or webhook_file",
		"team: {webhook_file: none, secret: " + key + "}":            "none",
		"team: {chat: 'ntfy://h/t', events: [wait]}":                 `unknown event "wait"`,
		"team: {chat: 'ntfy://h/t', repositories: ['[']}":            "want patterns",
		"team: {chat: 'ntfy://h/t', secret: T0PSECRET}":              "a chat has no secret",
	} {
		_, err := readTargets(put("f", text), time.Now)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "T0PSECRET") {
			t.Errorf("%s\n%v, want %s", text, err, want)
		}
	}
}
