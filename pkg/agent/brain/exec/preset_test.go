package exec_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// fake puts a program of the name on PATH that keeps its arguments and its
// input, prints the lines, and does what the script says.
func fake(t *testing.T, name, lines, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + dir + "/argv\ncat > " + dir + "/stdin\nenv > " + dir + "/env\ncat " + dir + "/lines\n" + script + "\n"
	for file, content := range map[string]string{name: text, "lines": lines} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

func kept(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the coding agents print, as far as it is read.
const (
	claudeDone = `{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"content":[{"type":"text","text":"Looking."}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Fixed the sum.","num_turns":2,"total_cost_usd":0.25,"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":7}}
`
	claudeStated = `{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"status":"blocked","questions":["Which?"]},"total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":2}}
`
	claudeLimit = `{"type":"result","subtype":"success","is_error":true,"result":"Claude AI usage limit reached|1893456000","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0}}
`
	claudeQuietLimit = `{"type":"result","subtype":"success","is_error":false,"result":"You've hit your session limit · resets 3pm","usage":{}}
`
	claudeTurns = `{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":30,"total_cost_usd":2,"usage":{"input_tokens":5,"output_tokens":6}}
`
	codexDone = `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"hm"}}
{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"Looking."}}
{"type":"item.completed","item":{"id":"3","type":"agent_message","text":"Fixed the sum.\n\n` + "```json\\n{\\\"status\\\": \\\"success\\\", \\\"confidence_score\\\": 0.8, \\\"data\\\": {\\\"k\\\": \\\"{}\\\"}}\\n```" + `"}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":40,"output_tokens":9}}
`
	codexLost = `{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"error","message":"stream disconnected before completion"}
{"type":"turn.failed","error":{"message":"stream disconnected before completion"}}
`
	geminiDone = `{"type":"init","session_id":"s","model":"m"}
{"type":"message","role":"user","content":"Do what the text above asks."}
{"type":"message","role":"assistant","content":"Looking.","delta":true}
{"type":"tool_use","tool_name":"edit"}
{"type":"message","role":"assistant","content":"Fixed ","delta":true}
{"type":"message","role":"assistant","content":"the sum.","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":12,"input_tokens":8,"output_tokens":4}}
`
	geminiQuota = `{"type":"result","status":"error","error":{"type":"ApiError","message":"Quota exceeded for requests per day"},"stats":{}}
`
	opencodeDone = `{"type":"step_start","part":{"type":"step-start"}}
{"type":"text","part":{"type":"text","text":"Looking."}}
{"type":"tool_use","part":{"type":"tool","tool":"edit"}}
{"type":"step_finish","part":{"type":"step-finish","cost":0.5,"tokens":{"input":10,"output":2,"reasoning":1,"cache":{"read":5,"write":1}}}}
{"type":"text","part":{"type":"text","text":"Fixed the sum."}}
{"type":"step_finish","part":{"type":"step-finish","cost":0.25,"tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}}
`
	opencodeError = `{"type":"text","part":{"type":"text","text":"Looking."}}
{"type":"error","error":{"name":"UnknownError","data":{"message":"the model gave no answer"}}}
`
	gooseDone = `{"type":"message","message":{"id":"a","role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"toolRequest","id":"1"}]}}
{"type":"message","message":{"role":"user","content":[{"type":"toolResponse","id":"1"}]}}
{"type":"notification","extension_id":"developer"}
{"type":"message","message":{"id":"b","role":"assistant","content":[{"type":"text","text":"Fixed "}]}}
{"type":"message","message":{"id":"b","role":"assistant","content":[{"type":"text","text":"the sum."}]}}
{"type":"complete","total_tokens":30,"input_tokens":20,"output_tokens":10}
`
	gooseTotal = `{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"Fixed the sum."}]}}
{"type":"complete","total_tokens":30}
`
	gooseError = `{"type":"message","message":{"id":"a","role":"assistant","content":[{"type":"text","text":"Looking."}]}}
{"type":"error","error":"the tool call could not be read"}
`
	aiderDone = `Aider v0.86
Tokens: 2.1k sent, 312 received. Cost: $0.01 message, $0.01 session.
Fixed the sum.
Tokens: 1.5k sent, 1k cache hit, 88 received. Cost: $0.02 message, $0.03 session.
`
)

func TestPresetsReadWhatTheirProgramPrints(t *testing.T) {
	done := func(spend instance.Cost) instance.Result {
		return instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "Fixed the sum.", Spend: spend}
	}
	for name, c := range map[string]struct {
		preset, prints string
		want           instance.Result
		declared       bool
	}{
		"claude": {"claude", claudeDone, done(instance.Cost{TokensIn: 60, TokensOut: 7, USD: 0.25}), false},
		"claude with a structured answer": {"claude", claudeStated, instance.Result{
			Status: instance.Blocked, ConfidenceScore: 1, Questions: []string{"Which?"}, Spend: instance.Cost{TokensIn: 1, TokensOut: 2, USD: 0.5},
		}, true},
		"codex with a result at the end": {"codex", codexDone, instance.Result{
			Status: instance.Success, ConfidenceScore: 0.8, Data: map[string]string{"k": "{}"}, Spend: instance.Cost{TokensIn: 100, TokensOut: 9},
		}, true},
		"gemini":                        {"gemini", geminiDone, done(instance.Cost{TokensIn: 8, TokensOut: 4}), false},
		"opencode":                      {"opencode", opencodeDone, done(instance.Cost{TokensIn: 17, TokensOut: 4, USD: 0.75}), false},
		"goose":                         {"goose", gooseDone, done(instance.Cost{TokensIn: 20, TokensOut: 10}), false},
		"goose that knows only the sum": {"goose", gooseTotal, done(instance.Cost{TokensIn: 30}), false},
		"aider":                         {"aider", aiderDone, done(instance.Cost{TokensIn: 3600, TokensOut: 400, USD: 0.03}), false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := fake(t, c.preset, c.prints, "")
			out, err := work(t, program(t, c.preset), assignment(t))
			if err != nil || out.Declared != c.declared {
				t.Fatalf("declared %v, %v", out.Declared, err)
			}
			if c.declared {
				out.Result.Summary = c.want.Summary
			}
			c.want.Spend.WallMS = out.Result.Spend.WallMS
			got, _ := json.Marshal(out.Result)
			want, _ := json.Marshal(c.want)
			if string(got) != string(want) {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
			if !strings.Contains(kept(t, dir, "stdin"), "Sum is wrong") {
				t.Error("no prompt on standard input")
			}
		})
	}
}

func TestPresetsTellTheWorksFaultsFromOthers(t *testing.T) {
	for name, c := range map[string]struct {
		preset, prints, script string
		infrastructure         bool
		want                   string
	}{
		"claude at its usage limit":              {"claude", claudeLimit, "exit 1", true, "usage limit reached"},
		"claude at its limit with exit code 0":   {"claude", claudeLimit, "", true, "usage limit reached"},
		"claude at its limit as if it succeeded": {"claude", claudeQuietLimit, "", true, "hit your session limit"},
		"claude out of turns":                    {"claude", claudeTurns, "exit 1", false, "error_max_turns"},
		"claude without an account":              {"claude", "", "echo 'Invalid API key · Please run /login'; exit 1", true, "Invalid API key"},
		"claude with a source that says quota":   {"claude", claudeTurns, "echo '{\"type\":\"user\",\"text\":\"quota exceeded: connection refused\"}'; exit 1", false, "error_max_turns"},
		"claude that crashed":                    {"claude", "", "kill -SEGV $$", false, "SIGSEGV"},
		"codex without a network":                {"codex", codexLost, "exit 1", true, "stream disconnected"},
		"gemini out of quota":                    {"gemini", geminiQuota, "exit 1", true, "Quota exceeded"},
		"opencode with an error and exit code 0": {"opencode", opencodeError, "", false, "the model gave no answer"},
		"goose with an error":                    {"goose", gooseError, "exit 1", false, "could not be read"},
		"any with a wrong result":                {"codex", codexDone, `echo '{"status": "fine"}' > "$SIGNALBOX_RESULT"`, false, "status: enum"},
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, c.preset, c.prints, c.script)
			out, err := work(t, program(t, c.preset), assignment(t))
			if err == nil || errors.Is(err, brain.ErrInfrastructure) != c.infrastructure || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err %v", err)
			}
			if c.prints == claudeTurns && out.Result.Spend.USD != 2 {
				t.Errorf("spent %+v", out.Result.Spend)
			}
		})
	}
}

func TestAnAgentThatConnectsAgainForEverIsAnInfrastructureFault(t *testing.T) {
	fake(t, "codex", `{"type":"error","message":"Reconnecting... connection refused"}`+"\n", "sleep 600")
	cfg := program(t, "codex")
	cfg.Wall = 3 * time.Second // time enough to print, on a busy machine too
	if _, err := work(t, cfg, assignment(t)); !errors.Is(err, brain.ErrInfrastructure) || !strings.Contains(err.Error(), "wall time limit") {
		t.Errorf("err %v", err)
	}
}

func TestWordsOfALimitInWorkThatSucceededAreOnlyWords(t *testing.T) {
	fake(t, "claude", strings.ReplaceAll(claudeDone, "Fixed the sum.", "The client now waits when a usage limit is reached. Rate limit tests pass."), "")
	if _, err := work(t, program(t, "claude"), assignment(t)); err != nil {
		t.Error(err)
	}
}

func TestTheFileIsTheLastWord(t *testing.T) {
	fake(t, "claude", claudeStated, `echo '{"status": "failure", "spend": {"usd": 9}}' > "$SIGNALBOX_RESULT"`)
	out, err := work(t, program(t, "claude"), assignment(t))
	if err != nil || out.Result.Status != instance.Failure || out.Result.Spend.USD != 9 {
		t.Errorf("%+v, %v", out.Result, err)
	}
}

func TestPresetsAreRunUnattended(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "key")
	t.Setenv("GITHUB_TOKEN", "s3cret")
	for preset, want := range map[string][]string{
		"claude":   {"-p", "stream-json", "--verbose", "--json-schema", "--permission-mode", "acceptEdits", "--no-session-persistence"},
		"codex":    {"exec", "--json", "--ephemeral", "workspace-write", "-"},
		"gemini":   {"-p", "stream-json", "yolo", "--skip-trust"},
		"opencode": {"run", "--format", "json", "--auto"},
		"goose":    {"run", "--no-session", "-i", "-", "stream-json"},
		"aider":    {"--message-file", "--yes-always", "--no-auto-commits"},
	} {
		t.Run(preset, func(t *testing.T) {
			dir := fake(t, preset, "", "")
			if _, err := work(t, program(t, preset+" --model M"), assignment(t)); err != nil {
				t.Fatal(err)
			}
			argv := strings.Split(strings.TrimSpace(kept(t, dir, "argv")), "\n")
			for _, arg := range append(want, "--model", "M") {
				if !slices.Contains(argv, arg) {
					t.Errorf("no %q in %q", arg, argv)
				}
			}
			env := kept(t, dir, "env")
			if strings.Contains(env, "s3cret") || strings.Contains(strings.Join(argv, " "), "{{") {
				t.Errorf("argv %q, environment:\n%s", argv, env)
			}
			if preset == "claude" {
				var schema map[string]any
				err := json.Unmarshal([]byte(argv[slices.Index(argv, "--json-schema")+1]), &schema)
				if err != nil || schema["$schema"] != nil || schema["properties"] == nil || !strings.Contains(env, "ANTHROPIC_API_KEY=key") {
					t.Errorf("schema %v, %v; environment:\n%s", schema, err, env)
				}
			}
			if preset == "goose" && !strings.Contains(env, "GOOSE_MODE=auto") {
				t.Errorf("environment:\n%s", env)
			}
		})
	}
}

func TestWhatAnAgentLeavesForItselfIsRemoved(t *testing.T) {
	fake(t, "aider", aiderDone, "touch .aider.chat.history.md fix; mkdir .aider.tags.cache.v4; touch .aider.tags.cache.v4/x")
	a := assignment(t)
	if err := os.WriteFile(filepath.Join(a.Dir, ".aider.conf.yml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := work(t, program(t, "aider"), a); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(a.Dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if err != nil || !slices.Equal(left, []string{".aider.conf.yml", "fix"}) {
		t.Errorf("left %q, %v", left, err)
	}
}

func TestALineTooLongToHoldIsPassedOver(t *testing.T) {
	fake(t, "claude", "", `printf '{"type":"user","x":"'; head -c 20000000 /dev/zero | tr '\0' y; echo '"}'
cat <<'E'
`+claudeDone+`E`)
	out, err := work(t, program(t, "claude"), assignment(t))
	if err != nil || out.Result.Summary != "Fixed the sum." {
		t.Errorf("%v, %q", err, out.Result.Summary)
	}
}
