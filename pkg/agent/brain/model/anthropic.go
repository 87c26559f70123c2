package model

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// messages is Anthropic's Messages.
type messages struct {
	provider
	cfg Config
}

// messageEvent is an event of the stream; which fields it has depends on its type.
type messageEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage messageUsage `json:"usage"`
	} `json:"message"`
	Block object `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage messageUsage `json:"usage"`
}

// messageUsage is in tokens. A count that an event leaves out is as before.
type messageUsage struct {
	In      *int64 `json:"input_tokens"`
	Read    *int64 `json:"cache_read_input_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	Out     *int64 `json:"output_tokens"`
}

func (u messageUsage) update(to *usage) {
	for _, n := range []struct {
		is *int64
		to *int64
	}{{u.In, &to.in}, {u.Read, &to.read}, {u.Written, &to.written}, {u.Out, &to.out}} {
		if n.is != nil {
			*n.to = *n.is
		}
	}
}

// block is one part of an answer as it comes.
type block struct {
	object        // as it began
	text   string // of words, thoughts or arguments
}

// cached marks the end of what the provider keeps for the next request.
func cached() object { return object{"type": "ephemeral"} }

// send implements service. Tools, system and all of the conversation but its end are
// cached: the first mark is after the system, the second after the newest message.
func (m messages) send(ctx context.Context, q request, tell func(string)) (reply, error) {
	p := object{
		"model": m.cfg.Name, "max_tokens": m.cfg.MaxTokens, "stream": true,
		"system": []object{{"type": "text", "text": q.system, "cache_control": cached()}},
	}
	if m.cfg.Temperature != nil {
		p["temperature"] = *m.cfg.Temperature
	}
	if m.cfg.Effort != "" {
		p["output_config"] = object{"effort": m.cfg.Effort}
	}
	var tools []object
	for _, t := range q.tools {
		tools = append(tools, object{"name": t.name, "description": t.about, "input_schema": t.schema()})
	}
	if len(tools) > 0 {
		p["tools"] = tools
	}
	var conversation []object
	for _, said := range q.messages {
		conversation = append(conversation, m.message(said))
	}
	if last := conversation[len(conversation)-1]["content"].([]any); len(last) > 0 {
		if end, ok := last[len(last)-1].(object); ok {
			end["cache_control"] = cached()
		}
	}
	p["messages"] = conversation

	var r reply
	var blocks []*block
	ended, stop := false, ""
	for data, err := range m.stream(ctx, "/v1/messages", p) {
		if err != nil {
			return m.reply(r, blocks, stop), err
		}
		e, err := read[messageEvent](data)
		if err != nil {
			return m.reply(r, blocks, stop), err
		}
		switch e.Type {
		case "message_start":
			e.Message.Usage.update(&r.usage)
		case "content_block_start":
			blocks = append(blocks, &block{object: e.Block})
		case "content_block_delta":
			if e.Index < 0 || e.Index >= len(blocks) {
				return m.reply(r, blocks, stop), fmt.Errorf("%w: block %d has not begun", errGarbled, e.Index)
			}
			b := blocks[e.Index]
			b.text += e.Delta.Text + e.Delta.PartialJSON + e.Delta.Thinking
			if e.Delta.Signature != "" {
				b.object["signature"] = e.Delta.Signature
			}
			tell(e.Delta.Text)
		case "message_delta":
			stop = e.Delta.StopReason
			e.Usage.update(&r.usage)
		case "message_stop":
			ended = true
		}
	}
	r = m.reply(r, blocks, stop)
	switch {
	case !ended:
		return r, io.ErrUnexpectedEOF
	case stop == "refusal":
		return r, errRefused
	}
	return r, nil
}

func textBlock(words string) object { return object{"type": "text", "text": words} }

func (messages) message(said message) object {
	blocks := []any{}
	switch {
	case said.reply != nil:
		for _, item := range said.reply.items {
			blocks = append(blocks, item)
		}
		if len(blocks) == 0 { // an answer without words
			blocks = append(blocks, textBlock("(nothing)"))
		}
		return object{"role": "assistant", "content": blocks}
	case said.results != nil:
		for _, r := range said.results {
			blocks = append(blocks, object{"type": "tool_result", "tool_use_id": r.id, "is_error": r.failed, "content": []object{textBlock(r.text)}})
		}
		if said.text == "" {
			break
		}
		fallthrough
	default:
		blocks = append(blocks, textBlock(said.text))
	}
	return object{"role": "user", "content": blocks}
}

// reply has blocks in the form of a request as items. Arguments that are no object are
// sent back as a text in one.
func (messages) reply(r reply, blocks []*block, stop string) reply {
	r.full = stop == "max_tokens"
	for _, b := range blocks {
		field := func(name string) string { s, _ := b.object[name].(string); return s }
		switch field("type") {
		case "text":
			words := field("text") + b.text
			if words == "" {
				continue
			}
			r.text += words
			r.items = append(r.items, encode(textBlock(words)))
		case "tool_use":
			input := json.RawMessage(b.text)
			if len(input) == 0 {
				input = encode(b.object["input"])
			}
			r.calls = append(r.calls, call{field("id"), field("name"), input})
			r.items = append(r.items, encode(object{"type": "tool_use", "id": field("id"), "name": field("name"), "input": argument(input)}))
		case "thinking":
			r.items = append(r.items, encode(object{"type": "thinking", "thinking": field("thinking") + b.text, "signature": field("signature")}))
		default:
			r.items = append(r.items, encode(b.object))
		}
	}
	return r
}

// argument returns arguments as a JSON object.
func argument(args json.RawMessage) any {
	var o object
	if json.Unmarshal(args, &o) == nil && o != nil {
		return slices.Clone(args)
	}
	return object{"malformed": string(args)}
}
