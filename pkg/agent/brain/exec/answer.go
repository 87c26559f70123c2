package exec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// answer collects the lines that a coding agent prints.
type answer struct {
	text       string          // its last message
	structured json.RawMessage // the result, if the agent states it apart from its text
	failed     bool            // reported by the agent itself, whatever its exit code
	reason     string          // of the failure, in the agent's words
	spend      instance.Cost
	trouble

	spoke bool  // it printed an event
	began bool  // its model said something
	ended bool  // it reported the end of its work
	plain plain // other output than events

	message string // id of the message whose parts text has
}

// fail records a failure that the agent reports, with the first reason that is not
// empty.
func (a *answer) fail(reasons ...string) {
	a.failed = true
	for _, r := range reasons {
		if r != "" {
			a.reason = r
			return
		}
	}
}

// event decodes a line into v. It returns false for a line that is not JSON.
func event(line []byte, v any) bool { return json.Unmarshal(line, v) == nil }

func readClaude(a *answer, line []byte) {
	var e struct {
		Type       string          `json:"type"`
		Subtype    string          `json:"subtype"`
		IsError    bool            `json:"is_error"`
		Result     string          `json:"result"`
		Structured json.RawMessage `json:"structured_output"`
		USD        float64         `json:"total_cost_usd"`
		Status     int             `json:"api_error_status"`

		ErrorStatus int    `json:"error_status"` // of a retry
		Error       string `json:"error"`        // of a message
		Message     struct {
			Model   string          `json:"model"`
			Content []claudeContent `json:"content"`
		} `json:"message"`
		Limit struct {
			Status   string `json:"status"`
			ResetsAt int64  `json:"resetsAt"`
		} `json:"rate_limit_info"`
		Usage struct {
			In      int64 `json:"input_tokens"`
			Written int64 `json:"cache_creation_input_tokens"`
			Read    int64 `json:"cache_read_input_tokens"`
			Out     int64 `json:"output_tokens"`
		} `json:"usage"`
	}
	if !event(line, &e) {
		return
	}
	switch e.Type {
	case "assistant":
		a.claudeSays(e.Message.Model, e.Error, e.Message.Content)
	case "system":
		if e.Subtype == "api_retry" {
			a.again(e.ErrorStatus)
		}
	case "rate_limit_event":
		if e.Limit.Status == "rejected" {
			a.limited = true
			if e.Limit.ResetsAt > 0 {
				a.until = time.Unix(e.Limit.ResetsAt, 0)
			}
		}
	}
	if e.Type != "result" {
		return
	}
	a.text, a.structured, a.ended = e.Result, e.Structured, true
	a.status = cmp.Or(e.Status, a.status)
	a.began = a.began || e.Usage.Out > 0
	a.spend = instance.Cost{TokensIn: e.Usage.In + e.Usage.Written + e.Usage.Read, TokensOut: e.Usage.Out, USD: e.USD}
	if e.IsError || e.Subtype != "success" { // an error may call itself a success
		a.fail(e.Result, e.Subtype)
	}
}

type claudeContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// claudeSays reads a message. Claude writes those of errors itself, with a model of this
// name.
func (a *answer) claudeSays(model, kind string, content []claudeContent) {
	if kind != "" || model == "<synthetic>" {
		a.erred = true
		a.status = cmp.Or(claudeStatus(kind), a.status)
		return
	}
	a.hear()
	for _, c := range content {
		if c.Type == "text" {
			a.text = c.Text
		}
	}
}

// claudeStatus returns the status of HTTP that a kind of error stands for; 0: none.
func claudeStatus(kind string) int {
	switch kind {
	case "authentication_failed":
		return http.StatusUnauthorized
	case "billing_error":
		return http.StatusPaymentRequired
	case "oauth_org_not_allowed":
		return http.StatusForbidden
	case "model_not_found":
		return http.StatusNotFound
	case "rate_limit":
		return http.StatusTooManyRequests
	case "overloaded", "server_error":
		return http.StatusServiceUnavailable
	}
	return 0
}

func readCodex(a *answer, line []byte) {
	var e struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
		Item struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"item"`
		Usage struct {
			In  int64 `json:"input_tokens"`
			Out int64 `json:"output_tokens"`
		} `json:"usage"`
	}
	if !event(line, &e) {
		return
	}
	switch e.Type {
	case "item.started", "item.completed":
		if e.Item.Type == "error" { // a warning of its own
			return
		}
		a.hear()
		if e.Type == "item.completed" && e.Item.Type == "agent_message" {
			a.text = e.Item.Text
		}
	case "turn.completed":
		a.ended = true
		a.spend = a.spend.Add(instance.Cost{TokensIn: e.Usage.In, TokensOut: e.Usage.Out})
	case "turn.failed":
		a.fail(e.Error.Message)
		if m := codexStatus.FindStringSubmatch(e.Error.Message); m != nil {
			a.status, _ = strconv.Atoi(m[1])
		}
		a.retried = a.retried || strings.HasPrefix(e.Error.Message, "stream disconnected before completion: ") // so it calls that
	case "error": // the last one is the turn's, after each other one it connects again
		a.reason = e.Message
		a.retried = a.retried || a.erred
		a.erred = true
	}
}

// codexStatus is how codex begins the message of a status that is no success; it has it
// nowhere else.
var codexStatus = lazyregexp.New(`^unexpected status ([45]\d\d) `)

func readGemini(a *answer, line []byte) {
	var e struct {
		Type    string `json:"type"`
		Role    string `json:"role"`
		Content string `json:"content"`
		Status  string `json:"status"`
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
		Stats struct {
			In  int64 `json:"input_tokens"`
			Out int64 `json:"output_tokens"`
		} `json:"stats"`
	}
	if !event(line, &e) {
		return
	}
	switch e.Type {
	case "message":
		if e.Role == "assistant" {
			a.hear()
			a.text += e.Content
		}
	case "tool_use":
		a.hear()
		a.text = "" // the last message comes later
	case "error":
		a.reason = e.Message
	case "result":
		a.ended = true
		a.spend = instance.Cost{TokensIn: e.Stats.In, TokensOut: e.Stats.Out}
		if e.Status != "success" {
			a.fail(e.Error.Message, e.Status)
			a.retried = a.retried || strings.HasPrefix(e.Error.Message, "[API Error: ") // so it calls each of its model's
		}
	}
}

// geminiAttempt is how gemini says that it waits before it asks its model again.
var geminiAttempt = lazyregexp.New(`^Attempt \d+ failed with status (\d+)\. Retrying`)

func readGeminiAside(a *answer, line []byte) {
	if m := geminiAttempt.FindSubmatch(line); m != nil {
		status, _ := strconv.Atoi(string(m[1]))
		a.again(status)
	}
}

func readOpencode(a *answer, line []byte) {
	var e struct {
		Type string `json:"type"`
		Part struct {
			Text   string  `json:"text"`
			Cost   float64 `json:"cost"`
			Tokens struct {
				In        int64 `json:"input"`
				Out       int64 `json:"output"`
				Reasoning int64 `json:"reasoning"`
				Cache     struct {
					Read  int64 `json:"read"`
					Write int64 `json:"write"`
				} `json:"cache"`
			} `json:"tokens"`
		} `json:"part"`
		Error struct {
			Name string `json:"name"`
			Data struct {
				Message   string `json:"message"`
				Status    int    `json:"statusCode"`
				Retryable bool   `json:"isRetryable"`
			} `json:"data"`
		} `json:"error"`
	}
	if !event(line, &e) {
		return
	}
	switch t := e.Part.Tokens; e.Type {
	case "text":
		a.hear()
		a.text += e.Part.Text
	case "tool_use":
		a.hear()
		a.text = ""
	case "step_finish":
		a.spend = a.spend.Add(instance.Cost{TokensIn: t.In + t.Cache.Read + t.Cache.Write, TokensOut: t.Out + t.Reasoning, USD: e.Part.Cost})
	case "error":
		a.erred, a.retried, a.status = true, e.Error.Data.Retryable, e.Error.Data.Status
		if e.Error.Name == "ProviderAuthError" {
			a.status = http.StatusUnauthorized
		}
		a.fail(e.Error.Data.Message, e.Error.Name)
	}
}

// opencodeLog is the line of its log that reports that its model did not answer; it asks again then.
// A small request is a title's.
var opencodeLog = lazyregexp.New(`^timestamp=\S+ level=ERROR .*message="stream error" .*small=false `)

func readOpencodeAside(a *answer, line []byte) {
	if opencodeLog.Match(line) {
		a.again(0)
	}
}

func readGoose(a *answer, line []byte) {
	var e struct {
		Type    string          `json:"type"`
		Error   json.RawMessage `json:"error"`
		Total   int64           `json:"total_tokens"`
		In      int64           `json:"input_tokens"`
		Out     int64           `json:"output_tokens"`
		Message struct {
			ID      string `json:"id"`
			Role    string `json:"role"`
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		} `json:"message"`
	}
	if !event(line, &e) {
		return
	}
	switch e.Type {
	case "message":
		if e.Message.Role != "assistant" {
			return
		}
		a.hear()
		if e.Message.ID == "" || e.Message.ID != a.message { // else one more part of it
			a.text, a.message = "", e.Message.ID
		}
		for _, c := range e.Message.Content {
			if c.Type == "text" {
				a.text += c.Text
			}
		}
	case "error":
		a.fail(strings.Trim(string(e.Error), `"`))
	case "complete":
		a.spend = instance.Cost{TokensIn: e.In, TokensOut: e.Out}
		if e.In+e.Out == 0 {
			a.spend.TokensIn = e.Total // not distinguished by every provider
		}
	}
}

var (
	aiderTokens = lazyregexp.New(`^Tokens: ([\d.,]+)([kM]?) sent,.*?([\d.,]+)([kM]?) received`)
	aiderCost   = lazyregexp.New(`Cost: \$([\d.]+) message`)
)

func readAider(a *answer, line []byte) {
	text := strings.TrimSpace(string(line))
	tokens, cost := aiderTokens.FindStringSubmatch(text), aiderCost.FindStringSubmatch(text)
	if tokens != nil {
		a.spend.TokensIn += thousands(tokens[1], tokens[2])
		a.spend.TokensOut += thousands(tokens[3], tokens[4])
		a.hear()
	}
	if cost != nil {
		usd, _ := strconv.ParseFloat(cost[1], 64)
		a.spend.USD += usd
	}
	if tokens == nil && cost == nil && text != "" {
		a.text = text
	}
}

// readText reads an agent of whose output nothing is known: its last line is its last message.
func readText(a *answer, line []byte) {
	if text := strings.TrimSpace(string(line)); text != "" {
		a.hear()
		a.text = text
	}
}

func thousands(number, unit string) int64 {
	n, _ := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	switch unit {
	case "k":
		n *= 1e3
	case "M":
		n *= 1e6
	}
	return int64(n)
}

// maxLine is the longest line that is read, in bytes. Longer ones, such as events
// with a whole file, are skipped.
const maxLine = 8 << 20

// lineWriter calls each for every line written to it, without its end.
type lineWriter struct {
	each func([]byte)
	buf  []byte
	skip bool // the line is too long
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte("\n"))
		if w.skip = w.skip || len(w.buf)+len(line) > maxLine; w.skip {
			w.buf = w.buf[:0]
		} else {
			w.buf = append(w.buf, line...)
		}
		if !found {
			return n, nil
		}
		w.flush()
		p = rest
	}
}

func (w *lineWriter) flush() {
	if !w.skip && len(w.buf) > 0 {
		w.each(w.buf)
	}
	w.buf, w.skip = w.buf[:0], false
}
