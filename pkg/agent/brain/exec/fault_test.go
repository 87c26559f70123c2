package exec_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
)

// What the coding agents print of their model's service, with and without work before it.
const (
	claudeTurn = `{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"I look at the sum."}]}}
`
	codexTurn    = `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"I look at the sum."}}` + "\n"
	geminiTurn   = `{"type":"message","role":"assistant","content":"I look at the sum.","delta":true}` + "\n"
	opencodeTurn = `{"type":"text","part":{"type":"text","text":"I look at the sum."}}` + "\n"
	claudeEnd    = `{"type":"result","subtype":"success","is_error":true,"result":"it went wrong","total_cost_usd":0,"usage":{}`
	claudeRetry  = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,"error_status":null,"error":"unknown"}` + "\n"
	claudeWords  = `{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"it went wrong"}]},"error":"authentication_failed"}` + "\n"
	claudeWaits  = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1893456000,"rateLimitType":"five_hour"}}` + "\n"
	codexFailed  = `{"type":"error","message":"it went wrong"}` + "\n" + `{"type":"turn.failed","error":{"message":"it went wrong"}}` + "\n"
	codexAgain   = `{"type":"error","message":"Reconnecting... 1/5"}` + "\n"
	geminiFailed = `{"type":"result","status":"error","error":{"type":"Error","message":"it went wrong"},"stats":{}}` + "\n"
	geminiLogin  = `printf '{\n  "session_id": "s",\n  "error": {\n    "type": "Error",\n    "message": "choose a login",\n    "code": 41\n  }\n}\n' >&2; exit 41`
)

// kind tells what an error of a brain leads to.
func kind(err error) string {
	switch later := (*brain.LaterError)(nil); {
	case err == nil:
		return "none"
	case errors.Is(err, brain.ErrUnusable):
		return "people"
	case errors.As(err, &later):
		return "later"
	case errors.Is(err, brain.ErrInfrastructure):
		return "infrastructure"
	}
	return "attempt"
}

func TestStatusAndTypeDecideWhatIsInfrastructure(t *testing.T) {
	opencode := func(data string) string {
		return `{"type":"error","error":{"name":"APIError","data":{"message":"it went wrong"` + data + "}}}\n"
	}
	for name, c := range map[string]struct{ preset, prints, script, kind, want string }{
		"claude: 401":                            {"claude", claudeWords + claudeEnd + `,"api_error_status":401}`, "exit 1", "people", "log in"},
		"claude: 401 by the kind of its message": {"claude", claudeWords + claudeEnd + "}", "exit 1", "people", "log in"},
		"claude: 403":                            {"claude", claudeTurn + claudeEnd + `,"api_error_status":403}`, "exit 1", "people", "use the model"},
		"claude: 404":                            {"claude", claudeEnd + `,"api_error_status":404}`, "exit 1", "people", "no such model"},
		"codex: 401":                             {"codex", `{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: it went wrong"}}` + "\n", "exit 1", "people", "log in"},
		"codex: 503 in the middle":               {"codex", codexTurn + `{"type":"turn.failed","error":{"message":"unexpected status 503 Service Unavailable: it went wrong"}}` + "\n", "exit 1", "infrastructure", "it went wrong"},
		"codex: its stream is cut":               {"codex", codexTurn + `{"type":"turn.failed","error":{"message":"stream disconnected before completion: it went wrong"}}` + "\n", "exit 1", "infrastructure", "it went wrong"},
		"codex: the words of a status":           {"codex", codexTurn + `{"type":"turn.failed","error":{"message":"it went wrong: unexpected status 401 in a test"}}` + "\n", "exit 1", "attempt", "it went wrong"},
		"gemini: its model in the middle":        {"gemini", geminiTurn + `{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: it went wrong]"},"stats":{}}` + "\n", "exit 1", "infrastructure", "it went wrong"},
		"claude: 429 in the middle":              {"claude", claudeTurn + claudeEnd + `,"api_error_status":429}`, "exit 1", "infrastructure", "it went wrong"},
		"claude: 529 in the middle":              {"claude", claudeTurn + claudeEnd + `,"api_error_status":529}`, "exit 1", "infrastructure", "it went wrong"},
		"claude: 400 in the middle":              {"claude", claudeTurn + claudeEnd + `,"api_error_status":400}`, "exit 1", "attempt", "it went wrong"},
		"claude: connection refused":             {"claude", claudeEnd + "}", "exit 1", "infrastructure", "it went wrong"},
		"claude: connection lost":                {"claude", claudeTurn + claudeRetry + claudeEnd + "}", "exit 1", "infrastructure", "it went wrong"},
		"claude: a connection that came back":    {"claude", claudeRetry + claudeTurn + claudeEnd + "}", "exit 1", "attempt", "it went wrong"},
		"claude: at its limit":                   {"claude", claudeTurn + claudeWaits + claudeEnd + "}", "exit 1", "later", "2030-01-01 00:00:00 UTC"},
		"claude: at its limit, exit code 0": {
			"claude", claudeTurn + claudeWaits + `{"type":"result","subtype":"success","is_error":false,"result":"limit","usage":{}}`, "", "later", "2030-01-01"},
		"claude: an unknown flag":      {"claude", "", "echo \"error: unknown option '--json-schema'\" >&2; exit 1", "infrastructure", "--json-schema"},
		"codex: an unknown flag":       {"codex", "", "echo \"error: unexpected argument '--ephemeral' found\" >&2; exit 2", "people", "--ephemeral"},
		"codex: nothing but an error":  {"codex", codexFailed, "exit 1", "infrastructure", "it went wrong"},
		"codex: an error in the midst": {"codex", codexTurn + codexFailed, "exit 1", "attempt", "it went wrong"},
		"codex: connection lost":       {"codex", codexTurn + codexAgain + codexFailed, "exit 1", "infrastructure", "it went wrong"},
		"gemini: 401":                  {"gemini", geminiFailed, "exit 145", "people", "HTTP status 401"},
		"gemini: 404":                  {"gemini", geminiFailed, "exit 148", "people", "no such model"},
		"gemini: 503":                  {"gemini", geminiTurn + geminiFailed, "exit 247", "infrastructure", "HTTP status 503"},
		"gemini: no login":             {"gemini", "", geminiLogin, "people", "choose a login"},
		"gemini: out of turns":         {"gemini", geminiTurn + geminiFailed, "exit 53", "attempt", "it went wrong"},
		"opencode: 403":                {"opencode", opencodeTurn + opencode(`,"statusCode":403`), "", "people", "use the model"},
		"opencode: 500":                {"opencode", opencodeTurn + opencode(`,"statusCode":500,"isRetryable":true`), "", "infrastructure", "it went wrong"},
		"opencode: connection reset":   {"opencode", opencodeTurn + opencode(`,"isRetryable":true`), "", "infrastructure", "it went wrong"},
		"opencode: no connection":      {"opencode", opencode(""), "", "infrastructure", "it went wrong"},
		"opencode: 400":                {"opencode", opencodeTurn + opencode(`,"statusCode":400`), "", "attempt", "it went wrong"},
		"a script that says so":        {"./agent.sh", "", "echo 'usage limit reached: quota, connection refused, 401'; exit 1", "attempt", "quota"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := fake(t, strings.TrimPrefix(c.preset, "./"), c.prints, c.script)
			t.Chdir(dir)
			_, err := work(t, program(t, c.preset), assignment(t))
			if kind(err) != c.kind || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, want %s with %q: %v", kind(err), c.kind, c.want, err)
			}
		})
	}
}

func TestALimitOfTimeIsTheServicesIfTheAgentWaitsForIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prints string
		kind   string
	}{
		"nothing came":         {`{"type":"system","subtype":"init"}` + "\n", "infrastructure"},
		"it connects again":    {claudeTurn + claudeRetry, "infrastructure"},
		"it works":             {claudeTurn, "attempt"},
		"it waits for a limit": {claudeTurn + claudeWaits, "later"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := (exec.Presets{}).Parse("claude")
			if err != nil {
				t.Fatal(err)
			}
			p.Argv = []string{"sh", "-c", "cat <<'E'; exec sleep 600\n" + c.prints + "E\n"}
			out, err := work(t, exec.Config{Program: p, Wall: 4 * time.Second, Grace: time.Millisecond}, assignment(t))
			if kind(err) != c.kind || (c.kind == "attempt") != errors.Is(err, exec.ErrTimeLimit) {
				t.Errorf("%s, want %s: %v", kind(err), c.kind, err)
			}
			if strings.Contains(err.Error(), "{") || len(out.Output) == 0 {
				t.Errorf("events are quoted: %v", err)
			}
			if c.kind == "attempt" && !strings.Contains(err.Error(), "I look at the sum.") {
				t.Errorf("its last words are not quoted: %v", err)
			}
		})
	}
}

func TestAFailureQuotesWhatPeopleCanRead(t *testing.T) {
	fake(t, "codex", codexTurn+`{"type":"item.completed","item":{"id":"2","type":"command_execution","aggregated_output":"secret"}}`+"\n",
		"echo 'thread panicked at 7' >&2; exit 101")
	_, err := work(t, program(t, "codex"), assignment(t))
	if err == nil || strings.ContainsAny(err.Error(), "{}") {
		t.Fatalf("events are quoted: %v", err)
	}
	for _, want := range []string{"exit code 101", "I look at the sum.", "thread panicked at 7"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

func TestEventsAreNoSummary(t *testing.T) {
	fake(t, "gemini", `{"type":"init"}`+"\n"+`{"type":"tool_use","tool_name":"edit"}`+"\n", "touch fix")
	out, err := work(t, program(t, "gemini"), assignment(t))
	if err != nil || out.Result.Summary != "" {
		t.Errorf("%q, %v", out.Result.Summary, err)
	}
}
