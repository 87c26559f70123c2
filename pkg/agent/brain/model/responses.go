package model

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
)

// answers is OpenAI's Responses. Nothing is stored there: each request has the whole
// conversation, with what a model thought in a form that only the provider reads.
type answers struct {
	provider
	cfg Config
}

// answerEvent is an event of the stream; which fields it has depends on its type.
type answerEvent struct {
	Type     string `json:"type"`
	Delta    any    `json:"delta"`
	Response answer `json:"response"`
}

// answer is a response, complete or not.
type answer struct {
	Status string `json:"status"`
	Error  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []json.RawMessage `json:"output"`
	Usage  struct {
		In      int64 `json:"input_tokens"`
		Details struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Out int64 `json:"output_tokens"`
	} `json:"usage"`
}

// send implements service.
func (s answers) send(ctx context.Context, q request, tell func(string)) (reply, error) {
	p := object{
		"model": s.cfg.Name, "instructions": q.system, "max_output_tokens": s.cfg.MaxTokens, "store": false, "prompt_cache_key": q.key, "stream": true,
	}
	if s.cfg.Temperature != nil {
		p["temperature"] = *s.cfg.Temperature
	}
	if s.cfg.Effort != "" {
		p["reasoning"] = object{"effort": s.cfg.Effort}
	}
	if s.cfg.card.Thinks || s.cfg.Effort != "" {
		p["include"] = []string{"reasoning.encrypted_content"}
	}
	var tools []object
	for _, t := range q.tools {
		tools = append(tools, object{"type": "function", "name": t.name, "description": t.about, "parameters": t.schema(), "strict": false})
	}
	if len(tools) > 0 {
		p["tools"] = tools
	}
	input := []any{}
	for _, said := range q.messages {
		input = append(input, s.items(said)...)
	}
	p["input"] = input

	var got answer
	for data, err := range s.stream(ctx, "/responses", p) {
		if err != nil {
			return s.reply(got), err
		}
		e, err := read[answerEvent](data)
		if err != nil {
			return s.reply(got), err
		}
		switch e.Type {
		case "response.output_text.delta":
			words, _ := e.Delta.(string)
			tell(words)
		case "response.completed", "response.incomplete", "response.failed":
			got = e.Response
		}
	}
	r := s.reply(got)
	switch {
	case got.Status == "":
		return r, io.ErrUnexpectedEOF
	case got.Status == "failed":
		return r, &stated{kind: got.Error.Code, text: got.Error.Message}
	case got.Incomplete.Reason == "content_filter":
		return r, errRefused
	}
	return r, nil
}

func (answers) items(said message) (items []any) {
	for _, r := range said.results {
		items = append(items, object{"type": "function_call_output", "call_id": r.id, "output": r.text})
	}
	if said.reply != nil {
		for _, item := range said.reply.items {
			items = append(items, item)
		}
	} else if said.text != "" {
		items = append(items, object{"role": "user", "content": said.text})
	}
	return items
}

// reply has items in the form of a request. Ids are left out: they are of what is stored.
func (answers) reply(got answer) reply {
	cached := got.Usage.Details.Cached
	r := reply{full: got.Incomplete.Reason == "max_output_tokens", usage: usage{in: got.Usage.In - cached, read: cached, out: got.Usage.Out}}
	for _, raw := range got.Output {
		var item struct {
			Type    string `json:"type"`
			Content []struct {
				Text    string `json:"text"`
				Refusal string `json:"refusal"`
			} `json:"content"`
			CallID    string `json:"call_id"`
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
			Encrypted string `json:"encrypted_content"`
		}
		if json.Unmarshal(raw, &item) != nil {
			continue // an item of a kind that is not known
		}
		switch item.Type {
		case "message":
			words := ""
			for _, c := range item.Content {
				words += cmp.Or(c.Text, c.Refusal)
			}
			if words != "" {
				r.items = append(r.items, encode(object{"role": "assistant", "content": words}))
			}
			r.text += words
		case "function_call":
			r.calls = append(r.calls, call{item.CallID, item.Name, json.RawMessage(item.Arguments)})
			r.items = append(r.items, encode(object{"type": "function_call", "call_id": item.CallID, "name": item.Name, "arguments": item.Arguments}))
		case "reasoning":
			if item.Encrypted != "" {
				r.items = append(r.items, raw)
			}
		}
	}
	return r
}
