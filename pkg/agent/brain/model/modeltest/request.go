package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Request is what the model is asked.
type Request struct {
	N       int // the first is 1
	API     API
	Header  http.Header
	Body    []byte
	Model   string
	Whole   bool // it wants no stream
	Object  bool // it wants a JSON object, without a schema (Gemini)
	Tools   []string
	Prompt  string   // the first words of a user
	Calls   []string // names of the tools that the conversation has called so far
	Results []string // what those calls came to
	Last    string   // the newest words of a user, if they came after the newest result

	custom map[string]bool // tools that take a text, not an object (Responses)
}

// read reads the body of the request's interface.
func (r *Request) read() error {
	if r.API == Gemini {
		return r.readGemini()
	}
	var body struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Tools  []struct {
			Type     string `json:"type"`
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"` // of a namespace (Responses)
		} `json:"tools"`
		Messages []item          `json:"messages"`
		Input    json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	r.Model, r.Whole, r.custom = body.Model, !body.Stream, map[string]bool{}
	for _, t := range body.Tools {
		for _, one := range t.Tools {
			r.Tools = append(r.Tools, t.Name+"."+one.Name)
		}
		name := cmp.Or(t.Name+t.Function.Name, t.Type)
		r.Tools, r.custom[name] = append(r.Tools, name), t.Type == "custom"
	}
	items := body.Messages
	if r.API == Responses {
		if err := json.Unmarshal(body.Input, &items); err != nil {
			return fmt.Errorf("input: %w", err)
		}
	}
	calls, results := map[string]bool{}, map[string]bool{}
	for _, it := range items {
		if err := r.take(it, calls, results); err != nil {
			return err
		}
	}
	for id := range calls {
		if !results[id] {
			return fmt.Errorf("the call %s has no result", id)
		}
	}
	return nil
}

// item is one of a conversation, of any interface.
type item struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Name    string          `json:"name"`
	ID      string          `json:"id"`
	CallID  string          `json:"call_id"`
	Output  json.RawMessage `json:"output"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
	ToolUseID  string `json:"tool_use_id"`
	Text       string `json:"text"`
}

// take adds an item. A result without its call is an error, as it is to the services.
func (r *Request) take(it item, calls, results map[string]bool) error {
	call := func(id, name string) { calls[id], r.Calls = true, append(r.Calls, name) }
	result := func(id, text string) error {
		if !calls[id] {
			return fmt.Errorf("a result of the call %q, which was never made", id)
		}
		results[id], r.Results, r.Last = true, append(r.Results, text), ""
		return nil
	}
	switch {
	case it.Type == "function_call", it.Type == "custom_tool_call":
		call(it.CallID, it.Name)
	case it.Type == "function_call_output", it.Type == "custom_tool_call_output":
		return result(it.CallID, plain(it.Output))
	case it.Type == "tool_use":
		call(it.ID, it.Name)
	case it.Type == "tool_result":
		return result(it.ToolUseID, plain(it.Content))
	case it.Role == "tool":
		return result(it.ToolCallID, plain(it.Content))
	case it.Role == "assistant":
		for _, c := range it.Calls {
			call(c.ID, c.Function.Name)
		}
		return r.each(it.Content, calls, results)
	case it.Role == "user":
		text := plain(it.Content)
		if r.Prompt == "" {
			r.Prompt = text
		} else if text != "" {
			r.Last = text
		}
		return r.each(it.Content, calls, results)
	}
	return nil
}

// each takes the blocks of a content.
func (r *Request) each(content json.RawMessage, calls, results map[string]bool) error {
	var blocks []item
	if json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	for _, b := range blocks {
		if err := r.take(b, calls, results); err != nil {
			return err
		}
	}
	return nil
}

// plain is the text of a content: a text, or blocks of it.
func plain(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []item
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var all []string
	for _, b := range blocks {
		if b.Text != "" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}
