package model

import (
	"context"
	"encoding/json"
	"maps"
)

// service is the interface of a provider to its models.
type service interface {
	// send returns the model's answer to a conversation. tell is called with the text as
	// it comes. With an error the reply has the usage that is known.
	send(ctx context.Context, q request, tell func(text string)) (reply, error)
}

// request is a conversation that waits for the model.
type request struct {
	system   string
	messages []message
	tools    []tool
	key      string // the same for all turns of a step: the provider's cache may go by it
}

// message is what one side said. Of the fields after text, one is set at most.
type message struct {
	text    string   // the user's, if there is no reply
	results []result // of the calls of the message before
	reply   *reply   // the model's
}

// reply is an answer of the model.
type reply struct {
	text  string
	calls []call
	full  bool // it ended at the limit of tokens
	usage usage
	items []json.RawMessage // in the provider's form, where the conversation needs it; see the services
}

// call is the call of a tool.
type call struct {
	id, name string
	args     json.RawMessage // as the model wrote them: perhaps no JSON
}

// result is what a call came to.
type result struct {
	id, text string
	failed   bool
	dropped  bool // the text was left out to make room
}

// usage is what a turn used, in tokens.
type usage struct{ in, read, written, out int64 }

func (u usage) all() int64 { return u.in + u.read + u.written + u.out }

// tool describes a tool to the model.
type tool struct {
	name, about string
	properties  map[string]any
	required    []string
	more        map[string]any // other keys of its schema; nil: no further properties
}

// schema is the JSON schema of the tool's arguments.
func (t tool) schema() map[string]any {
	required := t.required
	if required == nil {
		required = []string{}
	}
	s := maps.Clone(t.further())
	s["type"], s["properties"], s["required"] = "object", t.properties, required
	return s
}

// further are the keys of the schema other than type, properties and required.
func (t tool) further() map[string]any {
	if t.more == nil {
		return map[string]any{"additionalProperties": false}
	}
	return t.more
}
