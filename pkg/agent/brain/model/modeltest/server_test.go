package modeltest_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
)

// apis are the paths of the interfaces, each with a conversation of one call and its result.
var apis = map[modeltest.API]struct{ path, body string }{
	modeltest.Messages: {"/v1/messages", `{"model":"m","stream":true,"tools":[{"name":"read"}],"messages":[
		{"role":"user","content":[{"type":"text","text":"mend it"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"package stats"}]}]}]}`},
	modeltest.Responses: {"/v1/responses", `{"model":"m","stream":true,"tools":[{"type":"function","name":"read"}],"input":[
		{"role":"user","content":"mend it"},
		{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":"package stats"}]}`},
	modeltest.Chat: {"/v1/chat/completions", `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"read"}}],"messages":[
		{"role":"user","content":"mend it"},
		{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"package stats"}]}`},
	modeltest.Gemini: {"/v1beta/models/m:streamGenerateContent?alt=sse", `{"tools":[{"functionDeclarations":[{"name":"read"}]}],"contents":[
		{"role":"user","parts":[{"text":"mend it"}]},
		{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"read","response":"package stats"}}]}]}`},
}

// events is how many events the turn of a text and a call is streamed in, at least.
var events = map[modeltest.API]int{modeltest.Messages: 4, modeltest.Responses: 4, modeltest.Chat: 4, modeltest.Gemini: 2}

func post(t *testing.T, url, body string) (int, string, error) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, string(text), err
}

func TestAScriptSeesTheConversationAndItsTurnIsStreamed(t *testing.T) {
	for api, a := range apis {
		t.Run(string(api), func(t *testing.T) {
			s := modeltest.New(t, modeltest.Turns(modeltest.Calling("edit", map[string]any{"path": "stats.go"})))
			status, text, err := post(t, s.URL+a.path, a.body)
			if err != nil || status != http.StatusOK || !strings.Contains(text, "edit") || !strings.Contains(text, "stats") ||
				strings.Count(text, "data: ") < events[api] {
				t.Errorf("got %d, %v:\n%s", status, err, text)
			}
			r := s.Requests()[0]
			if r.API != api || r.N != 1 || r.Model != "m" && api != modeltest.Gemini || r.Prompt != "mend it" || !slices.Equal(r.Tools, []string{"read"}) ||
				!slices.Equal(r.Calls, []string{"read"}) || strings.Trim(strings.Join(r.Results, "|"), `"`) != "package stats" {
				t.Errorf("the script sees %+v", r)
			}
		})
	}
}

func TestACallWithoutAResultIsRefusedAsTheServicesDo(t *testing.T) {
	for api, a := range apis {
		t.Run(string(api), func(t *testing.T) {
			s := modeltest.New(t, modeltest.Turns(modeltest.Turn{Text: "done"}))
			body := a.body[:strings.LastIndex(a.body, ",\n")] + "]}"
			if status, text, _ := post(t, s.URL+a.path, body); status != http.StatusBadRequest || !strings.Contains(text, "has no result") {
				t.Errorf("got %d: %s", status, text)
			}
		})
	}
}

func TestFaultsAreAsTheServicesHaveThem(t *testing.T) {
	for api, a := range apis {
		t.Run(string(api), func(t *testing.T) {
			s := modeltest.New(t, modeltest.Turns(
				modeltest.Status(http.StatusTooManyRequests, "rate_limit_error", "slowly", "Retry-After", "7"), modeltest.Cut()))
			if status, text, _ := post(t, s.URL+a.path, a.body); status != http.StatusTooManyRequests || !strings.Contains(text, "slowly") {
				t.Errorf("got %d: %s", status, text)
			}
			if _, text, err := post(t, s.URL+a.path, a.body); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(text, "I was about to") {
				t.Errorf("a cut stream ends with %v: %s", err, text)
			}
		})
	}
}
