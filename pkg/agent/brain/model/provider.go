package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"strings"

	"github.com/tmaxmax/go-sse"
)

// object is a JSON object of a request.
type object = map[string]any

// provider posts requests to a provider's HTTP interface and reads the events of the answers.
type provider struct {
	url    string // without a slash at the end
	header http.Header
}

// newProvider takes the key from the configuration, then from the environment.
func newProvider(cfg Config) provider {
	p := provider{url: strings.TrimSuffix(cfg.url(), "/"), header: http.Header{}}
	set := func(name, value string) {
		if value != "" {
			p.header.Set(name, value)
		}
	}
	key := cfg.Key
	if key == "" {
		key = os.Getenv(cfg.variable("API_KEY"))
	}
	if cfg.Provider == "anthropic" {
		set("Anthropic-Version", "2023-06-01")
		set("X-Api-Key", key)
		if token := os.Getenv("ANTHROPIC_AUTH_TOKEN"); token != "" && cfg.Key == "" {
			set("Authorization", "Bearer "+token)
		}
		return p
	}
	if key != "" {
		set("Authorization", "Bearer "+key)
	}
	set("OpenAI-Organization", os.Getenv("OPENAI_ORG_ID"))
	set("OpenAI-Project", os.Getenv("OPENAI_PROJECT_ID"))
	return p
}

const (
	maxEvent   = 32 << 20 // bytes of one event
	maxRefusal = 64 << 10 // bytes of an answer that is an error
)

// stream posts the request and yields the data of each event. It yields one error at most,
// as the last: a *stated for an error of the provider, one of the connection otherwise.
func (p provider) stream(ctx context.Context, path string, request object) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		response, err := p.post(ctx, path, request)
		if err != nil {
			yield(nil, err)
			return
		}
		defer response.Body.Close()
		for event, err := range sse.Read(response.Body, &sse.ReadConfig{MaxEventSize: maxEvent}) {
			data := json.RawMessage(event.Data)
			switch {
			case err != nil:
				yield(nil, err)
				return
			case event.Data == "" || event.Data == "[DONE]":
				continue
			case !json.Valid(data):
				yield(nil, fmt.Errorf("%w: an event is no JSON", errGarbled))
				return
			}
			if err := statedIn(data); err != nil {
				yield(nil, err)
				return
			}
			if !yield(data, nil) {
				return
			}
		}
	}
}

// post returns an answer of status 200, whose body the caller closes.
func (p provider) post(ctx context.Context, path string, request object) (*http.Response, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = p.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode == http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	if err != nil {
		return nil, err
	}
	refusal := &stated{}
	if e := (*stated)(nil); errors.As(statedIn(text), &e) {
		refusal = e
	}
	refusal.status, refusal.header = response.StatusCode, response.Header
	return nil, refusal
}

// statedIn returns the error that an event, or the body of a refusal, states, if it does.
func statedIn(data []byte) error {
	var body struct {
		Type    string          `json:"type"`
		Code    *string         `json:"code"`
		Message string          `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	var said struct {
		Type    string `json:"type"`
		Code    any    `json:"code"` // a number at some servers
		Message string `json:"message"`
	}
	switch text := ""; {
	case json.Unmarshal(body.Error, &said) == nil && said != (struct {
		Type    string `json:"type"`
		Code    any    `json:"code"`
		Message string `json:"message"`
	}{}):
	case json.Unmarshal(body.Error, &text) == nil && text != "":
		said.Message = text
	case body.Type == "error": // Responses
		said.Message = body.Message
		if body.Code != nil {
			said.Code = *body.Code
		}
	default:
		return nil
	}
	kind := said.Type
	if code, ok := said.Code.(string); ok && code != "" {
		kind = code
	}
	return &stated{kind: kind, text: said.Message}
}

// read decodes an event into a form of the provider.
func read[T any](data json.RawMessage) (v T, err error) {
	if err = json.Unmarshal(data, &v); err != nil {
		err = errors.Join(errGarbled, err)
	}
	return v, err
}

// encode returns an item of a conversation as the provider wants it back.
func encode(item any) json.RawMessage {
	text, err := json.Marshal(item)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}
