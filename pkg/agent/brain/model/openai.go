package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// newOpenAI reads OPENAI_API_KEY and OPENAI_BASE_URL, unless the configuration says
// otherwise. A server of one's own needs no key.
func newOpenAI(cfg Config) openai.Client {
	opts := []option.RequestOption{option.WithMaxRetries(0)}
	if cfg.URL != "" {
		opts = append(opts, option.WithBaseURL(cfg.URL))
	}
	if cfg.Key != "" {
		opts = append(opts, option.WithAPIKey(cfg.Key))
	}
	return openai.NewClient(opts...)
}

// answers is OpenAI's Responses. Nothing is stored there: each request has the whole
// conversation, with what a model thought in a form that only the provider reads.
type answers struct {
	client openai.Client
	cfg    Config
}

// send implements service.
func (s answers) send(ctx context.Context, q request, tell func(string)) (reply, error) {
	p := responses.ResponseNewParams{
		Model: s.cfg.Name, Instructions: openai.String(q.system), MaxOutputTokens: openai.Int(int64(s.cfg.MaxTokens)),
		Store: openai.Bool(false), PromptCacheKey: openai.String(q.key),
	}
	if s.cfg.Temperature != nil {
		p.Temperature = openai.Float(*s.cfg.Temperature)
	}
	if s.cfg.Effort != "" {
		p.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffort(s.cfg.Effort)}
	}
	if s.cfg.card.Thinks || s.cfg.Effort != "" {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	for _, t := range q.tools {
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: t.name, Description: openai.String(t.about), Parameters: t.schema(), Strict: openai.Bool(false),
		}})
	}
	for _, said := range q.messages {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, s.items(said)...)
	}

	var got responses.Response
	stream := s.client.Responses.NewStreaming(ctx, p)
	defer stream.Close()
	for stream.Next() {
		switch event := stream.Current(); event.Type {
		case "response.output_text.delta":
			tell(event.Delta)
		case "response.completed", "response.incomplete", "response.failed":
			got = event.Response
		case "error":
			return reply{}, &stated{kind: event.Code, text: event.Message}
		}
	}
	err := stream.Err()
	if err == nil && got.Status == "" {
		err = io.ErrUnexpectedEOF
	}
	r := s.reply(got)
	if err == nil && got.Status == responses.ResponseStatusFailed {
		err = &stated{kind: string(got.Error.Code), text: got.Error.Message}
	}
	if err == nil && got.IncompleteDetails.Reason == "content_filter" {
		err = errRefused
	}
	return r, err
}

func (answers) items(said message) []responses.ResponseInputItemUnionParam {
	var items []responses.ResponseInputItemUnionParam
	for _, r := range said.results {
		item := responses.ResponseInputItemParamOfFunctionCallOutput(r.text)
		item.OfFunctionCallOutput.CallID = openai.String(r.id)
		items = append(items, item)
	}
	if said.reply != nil {
		for _, item := range said.reply.items {
			items = append(items, param.Override[responses.ResponseInputItemUnionParam](item))
		}
	} else if said.text != "" {
		items = append(items, responses.ResponseInputItemParamOfMessage(said.text, responses.EasyInputMessageRoleUser))
	}
	return items
}

// reply has items in the form of a request. Ids are left out: they are of what is stored.
func (answers) reply(got responses.Response) reply {
	cached := got.Usage.InputTokensDetails.CachedTokens
	r := reply{
		full:  got.IncompleteDetails.Reason == "max_output_tokens",
		usage: usage{in: got.Usage.InputTokens - cached, read: cached, out: got.Usage.OutputTokens},
	}
	add := func(item any) {
		if text, err := json.Marshal(item); err == nil {
			r.items = append(r.items, text)
		}
	}
	for _, item := range got.Output {
		switch item.Type {
		case "message":
			text := ""
			for _, c := range item.Content {
				text += cmp.Or(c.Text, c.Refusal)
			}
			if text != "" {
				add(responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleAssistant))
			}
			r.text += text
		case "function_call":
			f := item.AsFunctionCall()
			r.calls = append(r.calls, call{f.CallID, f.Name, json.RawMessage(f.Arguments)})
			add(responses.ResponseInputItemParamOfFunctionCall(f.Arguments, f.CallID, f.Name))
		case "reasoning":
			if thought := item.AsReasoning(); thought.EncryptedContent != "" {
				r.items = append(r.items, json.RawMessage(thought.RawJSON()))
			}
		}
	}
	return r
}

// chat is OpenAI's Chat Completions, which most other servers speak as well.
type chat struct {
	client openai.Client
	cfg    Config
}

// send implements service.
func (s chat) send(ctx context.Context, q request, tell func(string)) (reply, error) {
	p := openai.ChatCompletionNewParams{
		Model: s.cfg.Name, Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(q.system)},
		MaxCompletionTokens: openai.Int(int64(s.cfg.MaxTokens)),
		StreamOptions:       openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if s.cfg.Temperature != nil {
		p.Temperature = openai.Float(*s.cfg.Temperature)
	}
	if s.cfg.Effort != "" {
		p.ReasoningEffort = shared.ReasoningEffort(s.cfg.Effort)
	}
	for _, t := range q.tools {
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.name, Description: openai.String(t.about), Parameters: t.schema(),
		}))
	}
	for _, said := range q.messages {
		p.Messages = append(p.Messages, s.messages(said)...)
	}

	var got openai.ChatCompletionAccumulator
	stream := s.client.Chat.Completions.NewStreaming(ctx, p)
	defer stream.Close()
	for stream.Next() {
		chunk := stream.Current()
		if !got.AddChunk(chunk) {
			return s.reply(got.ChatCompletion), errors.Join(errGarbled, fmt.Errorf("chunk %s", chunk.ID))
		}
		if len(chunk.Choices) > 0 {
			tell(chunk.Choices[0].Delta.Content)
		}
	}
	err := stream.Err()
	if err == nil && (len(got.Choices) == 0 || got.Choices[0].FinishReason == "") {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && got.Choices[0].FinishReason == "content_filter" {
		err = errRefused
	}
	return s.reply(got.ChatCompletion), err
}

func (chat) messages(said message) []openai.ChatCompletionMessageParamUnion {
	var all []openai.ChatCompletionMessageParamUnion
	for _, r := range said.results {
		all = append(all, openai.ToolMessage(r.text, r.id))
	}
	if r := said.reply; r != nil {
		m := openai.AssistantMessage(r.text)
		for _, c := range r.calls {
			m.OfAssistant.ToolCalls = append(m.OfAssistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: c.id,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.name, Arguments: string(c.args)}},
			})
		}
		all = append(all, m)
	} else if said.text != "" {
		all = append(all, openai.UserMessage(said.text))
	}
	return all
}

func (chat) reply(got openai.ChatCompletion) reply {
	cached := got.Usage.PromptTokensDetails.CachedTokens
	r := reply{usage: usage{in: got.Usage.PromptTokens - cached, read: cached, out: got.Usage.CompletionTokens}}
	if len(got.Choices) == 0 {
		return r
	}
	c := got.Choices[0]
	r.text, r.full = cmp.Or(c.Message.Content, c.Message.Refusal), c.FinishReason == "length"
	for _, t := range c.Message.ToolCalls {
		r.calls = append(r.calls, call{t.ID, t.Function.Name, json.RawMessage(t.Function.Arguments)})
	}
	return r
}
