package model

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// messages is Anthropic's Messages.
type messages struct {
	client anthropic.Client
	cfg    Config
}

// newMessages reads ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN and ANTHROPIC_BASE_URL, unless
// the configuration says otherwise.
func newMessages(cfg Config) service {
	opts := []option.RequestOption{option.WithMaxRetries(0)}
	if cfg.URL != "" {
		opts = append(opts, option.WithBaseURL(cfg.URL))
	}
	if cfg.Key != "" {
		opts = append(opts, option.WithAPIKey(cfg.Key))
	}
	return messages{anthropic.NewClient(opts...), cfg}
}

// send implements service. Tools, system and all of the conversation but its end are
// cached: the first mark is after the system, the second after the newest message.
func (m messages) send(ctx context.Context, q request, tell func(string)) (reply, error) {
	p := anthropic.MessageNewParams{
		Model: m.cfg.Name, MaxTokens: int64(m.cfg.MaxTokens),
		System: []anthropic.TextBlockParam{{Text: q.system, CacheControl: anthropic.NewCacheControlEphemeralParam()}},
	}
	if m.cfg.Temperature != nil {
		p.Temperature = anthropic.Float(*m.cfg.Temperature)
	}
	if m.cfg.Effort != "" {
		p.OutputConfig = anthropic.OutputConfigParam{Effort: anthropic.OutputConfigEffort(m.cfg.Effort)}
	}
	for _, t := range q.tools {
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: t.name, Description: anthropic.String(t.about),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: t.properties, Required: t.required,
				ExtraFields: t.further()},
		}})
	}
	for _, said := range q.messages {
		p.Messages = append(p.Messages, m.message(said))
	}
	last := p.Messages[len(p.Messages)-1].Content
	if mark := last[len(last)-1].GetCacheControl(); mark != nil {
		*mark = anthropic.NewCacheControlEphemeralParam()
	}

	var got anthropic.Message
	ended, args := false, map[int64]json.RawMessage{} // as they came: the SDK empties those that are no JSON
	stream := m.client.Messages.NewStreaming(ctx, p)
	defer stream.Close()
	for stream.Next() {
		event := stream.Current()
		if err := got.Accumulate(event); err != nil {
			return m.reply(got, args), errors.Join(errGarbled, err)
		}
		if event.Delta.PartialJSON != "" {
			args[event.Index] = append(args[event.Index], event.Delta.PartialJSON...)
		}
		tell(event.Delta.Text)
		ended = ended || event.Type == "message_stop"
	}
	err := stream.Err()
	if err == nil && !ended {
		err = io.ErrUnexpectedEOF
	}
	r := m.reply(got, args)
	if err == nil && got.StopReason == anthropic.StopReasonRefusal {
		err = errRefused
	}
	return r, err
}

func (messages) message(said message) anthropic.MessageParam {
	switch {
	case said.reply != nil:
		var blocks []anthropic.ContentBlockParamUnion
		for _, item := range said.reply.items {
			blocks = append(blocks, param.Override[anthropic.ContentBlockParamUnion](item))
		}
		if len(blocks) == 0 { // an answer without words
			blocks = append(blocks, anthropic.NewTextBlock("(nothing)"))
		}
		return anthropic.NewAssistantMessage(blocks...)
	case said.results != nil:
		var blocks []anthropic.ContentBlockParamUnion
		for _, r := range said.results {
			blocks = append(blocks, anthropic.NewToolResultBlock(r.id, r.text, r.failed))
		}
		if said.text != "" {
			blocks = append(blocks, anthropic.NewTextBlock(said.text))
		}
		return anthropic.NewUserMessage(blocks...)
	}
	return anthropic.NewUserMessage(anthropic.NewTextBlock(said.text))
}

// reply has blocks in the form of a request as items. Arguments that are no object are
// sent back as a text in one.
func (messages) reply(m anthropic.Message, args map[int64]json.RawMessage) reply {
	r := reply{
		full: m.StopReason == anthropic.StopReasonMaxTokens,
		usage: usage{in: m.Usage.InputTokens, read: m.Usage.CacheReadInputTokens, written: m.Usage.CacheCreationInputTokens,
			out: m.Usage.OutputTokens},
	}
	for i, b := range m.Content {
		var block any
		switch b.Type {
		case "text":
			if b.Text == "" {
				continue
			}
			r.text += b.Text
			block = anthropic.NewTextBlock(b.Text)
		case "tool_use":
			input := args[int64(i)]
			if len(input) == 0 {
				input = b.Input
			}
			r.calls = append(r.calls, call{b.ID, b.Name, input})
			block = anthropic.NewToolUseBlock(b.ID, object(input), b.Name)
		default:
			block = b.ToParam()
		}
		if item, err := json.Marshal(block); err == nil {
			r.items = append(r.items, item)
		}
	}
	return r
}

// object returns arguments as a JSON object.
func object(args json.RawMessage) any {
	var o map[string]any
	if json.Unmarshal(args, &o) == nil && o != nil {
		return args
	}
	return map[string]any{"malformed": string(args)}
}
