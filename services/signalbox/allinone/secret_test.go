package allinone_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A git before the real one notes the arguments of each call, and what the whole machine
// sees of its ancestors. A brain notes its environment.
func TestNoTokenIsInTheArgumentsOfAProcessOrTheEnvironmentOfABrain(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	seen, brain := filepath.Join(dir, "seen"), filepath.Join(dir, "brain")
	write(t, filepath.Join(dir, "git"), fmt.Sprintf("#!/bin/sh\n{ echo \"git $*\"; tr '\\0' ' ' < /proc/$PPID/cmdline; echo; } >> %s\nexec %s \"$@\"\n", seen, git))
	if err := os.Chmod(filepath.Join(dir, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var tokens []string
	withEnv(t, "env > "+brain+"; tr '\\0' ' ' < /proc/$$/cmdline >> "+brain+"\n"+able, func(e *env) {
		e.begin("T-1", "Greet the tasks", "In the greeting.")
		e.reaches("T-1", "completed", 0)
		bot, err := os.ReadFile(filepath.Join(filepath.Dir(e.system.Forge.Token), "bot.token"))
		if err != nil {
			e.Error(err)
		}
		password, err := os.ReadFile(e.system.Login)
		if err != nil {
			e.Error(err)
		}
		tokens = []string{e.system.Forge.Secret, strings.TrimSpace(string(bot)), strings.TrimSpace(string(password))}
	})
	for what, file := range map[string]string{"the arguments": seen, "the brain's environment": brain} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if what == "the arguments" && (!strings.Contains(string(text), "git push ") || !strings.Contains(string(text), "http://127.0.0.1:")) {
			t.Errorf("no push was seen in\n%s", text)
		}
		for i, token := range tokens {
			for _, form := range []string{token, base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))} {
				if token == "" || strings.Contains(string(text), form) {
					t.Errorf("token %d is in %s", i, what)
				}
			}
		}
	}
}
