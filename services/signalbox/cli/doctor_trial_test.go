package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheDoctorTriesABrainOnATaskOfOneFile(t *testing.T) {
	const result = `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"Done."}]}}
{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"status":"success","summary":"Corrected."},"total_cost_usd":0.01,"usage":{"input_tokens":900,"output_tokens":40}}`
	for name, c := range map[string]struct{ spec, claude, want string }{
		"it works":              {"claude", "grep -q Helo greeting.txt; echo 'Hello, world.' > greeting.txt; echo '" + result + "'", "ok greeting.txt is right; "},
		"it leaves its own":     {"claude", "echo 'Hello, world.' > greeting.txt; touch notes.md; echo '" + result + "'", "warn greeting.txt is right; "},
		"it changes nothing":    {"claude", "echo '" + result + "'", `fail greeting.txt was to be corrected and has "Helo, world.\n"; it reports: Corrected.`},
		"it is not logged in":   {"claude", `echo '{"type":"result","subtype":"success","is_error":true,"result":"no","api_error_status":401,"usage":{}}'; exit 1`, "fail the brain cannot be used: log in, or give a valid key: claude: exit code 1: no"},
		"its service is away":   {"claude", `echo '{"type":"result","subtype":"success","is_error":true,"result":"refused","usage":{}}'; exit 1`, "fail infrastructure fault: claude: exit code 1: refused"},
		"a command":             {"exec:sed -i s/Helo/Hello/ greeting.txt", "", "warn greeting.txt is right; "},
		"one that is not there": {"exec:codx", "", "fail --brain developer=exec:codx: there is no program codx"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			script := "#!/bin/sh\n[ \"$1\" = --version ] && exit\ncat > /dev/null\n" + c.claude + "\n"
			if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":/usr/bin:/bin")
			found := examined(t, doctorCommand{machineFlags: machineFlags{BrainTrial: []string{c.spec}}})
			expect(t, found, map[string]string{"trial of " + c.spec: c.want})
		})
	}
}
