package model

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// chat is OpenAI's Chat Completions, which most other servers speak as well.
type chat struct {
	provider
	cfg Config
}

// chunk is an event of the stream.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Refusal   string `json:"refusal"`
			ToolCalls []struct {
				Index    int    `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		In      int64 `json:"prompt_tokens"`
		Details struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Out int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// maxCalls bounds the calls of one answer.
const maxCalls = 1000

// send implements service.
func (s chat) send(ctx context.Context, q request, tell func(string)) (reply, error) {
	p := object{"model": s.cfg.Name, "max_completion_tokens": s.cfg.MaxTokens, "stream": true, "stream_options": object{"include_usage": true}}
	if s.cfg.Temperature != nil {
		p["temperature"] = *s.cfg.Temperature
	}
	if s.cfg.Effort != "" {
		p["reasoning_effort"] = s.cfg.Effort
	}
	var tools []object
	for _, t := range q.tools {
		tools = append(tools, object{"type": "function", "function": object{"name": t.name, "description": t.about, "parameters": t.schema()}})
	}
	if len(tools) > 0 {
		p["tools"] = tools
	}
	conversation := []object{{"role": "system", "content": q.system}}
	for _, said := range q.messages {
		conversation = append(conversation, s.messages(said)...)
	}
	p["messages"] = conversation

	var r reply
	finish, refusal := "", ""
	for data, err := range s.stream(ctx, "/chat/completions", p) {
		if err != nil {
			return r, err
		}
		c, err := read[chunk](data)
		if err != nil {
			return r, err
		}
		if c.Usage != nil {
			cached := c.Usage.Details.Cached
			r.usage = usage{in: c.Usage.In - cached, read: cached, out: c.Usage.Out}
		}
		if len(c.Choices) == 0 {
			continue
		}
		said := c.Choices[0].Delta
		r.text, refusal = r.text+said.Content, refusal+said.Refusal
		for _, t := range said.ToolCalls {
			if t.Index < 0 || t.Index >= maxCalls {
				return r, fmt.Errorf("%w: call %d of an answer", errGarbled, t.Index)
			}
			for len(r.calls) <= t.Index {
				r.calls = append(r.calls, call{})
			}
			made := &r.calls[t.Index]
			made.id, made.name = cmp.Or(made.id, t.ID), cmp.Or(made.name, t.Function.Name)
			made.args = append(made.args, t.Function.Arguments...)
		}
		finish = cmp.Or(c.Choices[0].FinishReason, finish)
		tell(said.Content)
	}
	r.text, r.full = cmp.Or(r.text, refusal), finish == "length"
	switch finish {
	case "":
		return r, io.ErrUnexpectedEOF
	case "content_filter":
		return r, errRefused
	}
	return r, nil
}

func (chat) messages(said message) (all []object) {
	for _, r := range said.results {
		all = append(all, object{"role": "tool", "tool_call_id": r.id, "content": r.text})
	}
	if r := said.reply; r != nil {
		m := object{"role": "assistant", "content": r.text}
		var calls []object
		for _, c := range r.calls {
			calls = append(calls, object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": string(json.RawMessage(c.args))}})
		}
		if len(calls) > 0 {
			m["tool_calls"] = calls
		}
		all = append(all, m)
	} else if said.text != "" {
		all = append(all, object{"role": "user", "content": said.text})
	}
	return all
}
