package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// examined returns the findings of a doctor by check, as STATUS DETAIL. It leaves NATS out.
func examined(t *testing.T, c doctorCommand) map[string]string {
	t.Helper()
	var out bytes.Buffer
	e := &checkup{env: &term.Env{Stdout: &out, JSON: true}, patience: time.Minute}
	c.Sandbox, c.Data = "none", t.TempDir()
	c.machine(t.Context(), e)
	c.forge(t.Context(), e)
	found := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var f finding
		if json.Unmarshal([]byte(line), &f) == nil {
			found[f.Check] = string(f.Status) + " " + f.Detail
		}
	}
	return found
}

// expect compares findings by what they begin with.
func expect(t *testing.T, found, want map[string]string) {
	t.Helper()
	for check, begin := range want {
		if begin == "" && found[check] == "" {
			continue
		}
		if begin == "" || !strings.HasPrefix(found[check], begin) {
			t.Errorf("%s is %q, want %q", check, found[check], begin)
		}
	}
}

func TestTheDoctorLooksAtTheMachine(t *testing.T) {
	brain := func(spec string) doctorCommand {
		return doctorCommand{machineFlags: machineFlags{Brain: []string{spec}}}
	}
	home, bin := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Chdir(t.TempDir())
	expect(t, examined(t, doctorCommand{}), map[string]string{"git": "ok 2.", "git identity": "warn none", "sandbox": "warn none",
		"disk":          "ok ",
		"coding agents": "warn none of aider, claude, ", "forge": "ok the local one"})
	for file, text := range map[string]string{
		filepath.Join(home, ".gitconfig"): "[user]\n\tname = Ann\n\temail = ann@example.com\n",
		filepath.Join(bin, "codex"):       "#!/bin/sh\necho 1.0\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, examined(t, doctorCommand{}),
		map[string]string{"git identity": "ok Ann <ann@example.com>", "coding agents": "ok codex: --brain developer=exec:codex"})
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	expect(t, examined(t, doctorCommand{}),
		map[string]string{"coding agents": "fail --brain developer=exec:claude: claude --version ended with exit status 3"})
	expect(t, examined(t, brain("developer=exec:codex")), map[string]string{"brains": "ok 1 brain can be started", "coding agents": ""})
	expect(t, examined(t, brain("developer=exec:codx")),
		map[string]string{"brains": "fail --brain developer=exec:codx: there is no program codx"})
	expect(t, examined(t, brain("nobody=exec:codex")), map[string]string{"brains": "fail --brain nobody: there is no such role here"})
	expect(t, examined(t, doctorCommand{forgeFlags: forgeFlags{Repo: []string{"."}}}),
		map[string]string{"repository": "fail .: it is not a git repository"})
}

func TestTheDoctorLooksAtTheForge(t *testing.T) {
	late := time.Duration(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(-late).UTC().Format(http.TimeFormat))
		switch {
		case r.Method == http.MethodHead:
		case r.Header.Get("Authorization") != "Bearer right":
			http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
		case r.URL.Path == "/api/v3/user":
			_, _ = w.Write([]byte(`{"login": "signalbox"}`))
		case r.URL.Path == "/api/v3/repos/acme/widgets":
			_, _ = w.Write([]byte(`{"full_name": "acme/widgets"}`))
		default:
			http.Error(w, `{"message":"Not Found"}`, http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	at := server.URL + "/"
	with := func(token string, repos ...string) doctorCommand {
		return doctorCommand{forgeFlags: forgeFlags{URL: at, Secret: token, Repo: repos}}
	}
	expect(t, examined(t, with("right", "acme/widgets")), map[string]string{"forge": "ok " + at + " has acme/widgets",
		"forge token": "ok it is signalbox's", "forge clock": "ok agrees"})
	expect(t, examined(t, with("right", "acme/widgest")), map[string]string{"forge": "fail --repo acme/widgest: ", "forge token": ""})
	late = time.Hour
	expect(t, examined(t, with("right")), map[string]string{"forge": "ok " + at + " answers", "forge clock": "fail 1h"})
	late = 20 * time.Second
	expect(t, examined(t, with("right")), map[string]string{"forge clock": "warn "})
	expect(t, examined(t, with("wrong")),
		map[string]string{"forge token": "fail github: read whose the token is: the forge denies it, for it does not take the credentials: 401 Bad credentials"})
	expect(t, examined(t, with("")), map[string]string{"forge token": "fail there is none"})
	server.Close()
	expect(t, examined(t, with("right")), map[string]string{"forge": "fail github: read the time: the forge does not answer",
		"forge token": ""})
}

func TestTheDoctorTellsHowMuchSpaceIsLeft(t *testing.T) {
	if f := space("/proc"); f.Status != fail || !strings.Contains(f.Detail, "0 B left for /proc") {
		t.Errorf("of a full disk it says %+v", f)
	}
	if f := space(filepath.Join(t.TempDir(), "not", "yet")); f.Status == fail {
		t.Errorf("of a directory to come it says %+v", f)
	}
}
