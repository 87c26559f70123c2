package modeltest

import (
	"fmt"
	"slices"
	"strings"
)

// messages answers as Anthropic's Messages.
func messages(s stream, r Request, t Turn) {
	usage := object{"input_tokens": t.Usage.In, "cache_creation_input_tokens": t.Usage.Written, "cache_read_input_tokens": t.Usage.Read,
		"output_tokens": 1}
	if s.whole {
		usage["output_tokens"] = t.Usage.Out
		whole(s, object{"id": fmt.Sprintf("msg_%d", r.N), "type": "message", "role": "assistant", "model": r.Model,
			"content": []any{object{"type": "text", "text": t.Text}}, "stop_reason": "end_turn", "stop_sequence": nil, "usage": usage})
		return
	}
	s.send("message_start", object{"type": "message_start", "message": object{"id": fmt.Sprintf("msg_%d", r.N), "type": "message",
		"role": "assistant", "model": r.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}})
	at := 0
	block := func(start object, deltas ...object) {
		s.send("content_block_start", object{"type": "content_block_start", "index": at, "content_block": start})
		for _, d := range deltas {
			s.send("content_block_delta", object{"type": "content_block_delta", "index": at, "delta": d})
		}
		s.send("content_block_stop", object{"type": "content_block_stop", "index": at})
		at++
	}
	if t.Text != "" {
		block(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": t.Text})
	}
	if t.Fault != nil {
		return
	}
	stop := "end_turn"
	for i, c := range t.Calls {
		stop = "tool_use"
		block(object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", r.N, i), "name": c.Name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": c.Args[:len(c.Args)/2]},
			object{"type": "input_json_delta", "partial_json": c.Args[len(c.Args)/2:]})
	}
	if t.Full {
		stop = "max_tokens"
	}
	s.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": t.Usage.Out}})
	s.send("message_stop", object{"type": "message_stop"})
}

// responses answers as OpenAI's Responses.
func responses(s stream, r Request, t Turn) {
	id, n := fmt.Sprintf("resp_%d", r.N), 0
	send := func(event string, fields object) {
		fields["type"], fields["sequence_number"] = event, n
		n++
		s.send(event, fields)
	}
	send("response.created", object{"response": object{"id": id, "object": "response", "status": "in_progress", "output": []any{}}})
	var items []any
	add := func(item object) {
		send("response.output_item.added", object{"output_index": len(items), "item": item})
		if text, ok := item["content"].([]any); ok {
			send("response.output_text.delta", object{"item_id": item["id"], "output_index": len(items), "content_index": 0,
				"delta": text[0].(object)["text"]})
		}
		send("response.output_item.done", object{"output_index": len(items), "item": item})
		items = append(items, item)
	}
	if t.Text != "" {
		add(object{"type": "message", "role": "assistant", "id": fmt.Sprintf("msg_%d", r.N), "status": "completed",
			"content": []any{object{"type": "output_text", "text": t.Text, "annotations": []any{}}}})
	}
	if t.Fault != nil {
		return
	}
	for i, c := range t.Calls {
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", r.N, i), "call_id": fmt.Sprintf("call_%d_%d", r.N, i),
			"name": c.Name, "arguments": c.Args, "status": "completed"}
		if space, name, ok := strings.Cut(c.Name, "."); ok && slices.Contains(r.Tools, space) {
			item["namespace"], item["name"] = space, name
		}
		if r.custom[c.Name] {
			item["type"], item["input"] = "custom_tool_call", c.Args
			delete(item, "arguments")
		}
		add(item)
	}
	in := t.Usage.In + t.Usage.Read + t.Usage.Written
	response := object{"id": id, "object": "response", "status": "completed", "model": r.Model, "output": items, "usage": object{
		"input_tokens": in, "input_tokens_details": object{"cached_tokens": t.Usage.Read}, "output_tokens": t.Usage.Out,
		"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": in + t.Usage.Out}}
	event := "response.completed"
	if t.Full {
		event, response["status"], response["incomplete_details"] = "response.incomplete", "incomplete", object{"reason": "max_output_tokens"}
	}
	send(event, object{"response": response})
}

// chat answers as OpenAI's Chat Completions.
func chat(s stream, r Request, t Turn) {
	in := t.Usage.In + t.Usage.Read + t.Usage.Written
	usage := object{"prompt_tokens": in, "completion_tokens": t.Usage.Out, "total_tokens": in + t.Usage.Out,
		"prompt_tokens_details": object{"cached_tokens": t.Usage.Read}}
	if s.whole {
		whole(s, object{"id": fmt.Sprintf("chatcmpl-%d", r.N), "object": "chat.completion", "created": 1, "model": r.Model, "usage": usage,
			"choices": []any{object{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": t.Text}}}})
		return
	}
	chunk := func(choices []any, usage any) {
		s.send("", object{"id": fmt.Sprintf("chatcmpl-%d", r.N), "object": "chat.completion.chunk", "created": 1, "model": r.Model,
			"choices": choices, "usage": usage})
	}
	choice := func(delta object, finish any) []any {
		return []any{object{"index": 0, "delta": delta, "finish_reason": finish}}
	}
	chunk(choice(object{"role": "assistant", "content": t.Text}, nil), nil)
	if t.Fault != nil {
		return
	}
	finish := "stop"
	for i, c := range t.Calls {
		finish = "tool_calls"
		chunk(choice(object{"tool_calls": []any{object{"index": i, "id": fmt.Sprintf("call_%d_%d", r.N, i), "type": "function",
			"function": object{"name": c.Name, "arguments": c.Args[:len(c.Args)/2]}}}}, nil), nil)
		chunk(choice(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": c.Args[len(c.Args)/2:]}}}}, nil), nil)
	}
	if t.Full {
		finish = "length"
	}
	chunk(choice(object{}, finish), nil)
	chunk([]any{}, usage)
	s.raw("data: [DONE]\n\n")
}
