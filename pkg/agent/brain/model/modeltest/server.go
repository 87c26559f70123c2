// Package modeltest is a server of language models for tests. It speaks Anthropic's
// Messages, OpenAI's Responses and Chat Completions, and Gemini's generateContent,
// streamed or whole, and answers by a script. Steps is a script for the coding
// agents, which have tools of their own.
package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// API names one of the interfaces.
type API string

// The interfaces that the server speaks.
const (
	Messages  API = "messages"
	Responses API = "responses"
	Chat      API = "chat"
	Gemini    API = "gemini"
)

// Script returns the answer to a request. It is called by one goroutine at a time.
type Script func(Request) Turn

// Turns is a script that gives its turns in order, and the last one again and again.
func Turns(turns ...Turn) Script {
	return func(r Request) Turn { return turns[min(r.N, len(turns))-1] }
}

// Turn is one answer: what the model says and calls, or a fault in its place.
type Turn struct {
	Text  string
	Calls []Call
	Usage Usage // zero: 100 in, 1000 from the cache, 20 into it, 50 out
	Full  bool  // it ends at the limit of tokens
	Fault *Fault
}

// Call is the call of a tool. Args are sent as they are, JSON or not.
type Call struct{ Name, Args string }

// Do returns a call of a tool with arguments that are marshalled.
func Do(name string, args map[string]any) Call {
	text, err := json.Marshal(args)
	if err != nil {
		panic(err) // a test's own words
	}
	return Call{name, string(text)}
}

// Calling is the turn that calls one tool.
func Calling(name string, args map[string]any) Turn {
	return Turn{Text: "Next.", Calls: []Call{Do(name, args)}}
}

// Usage is what a turn costs, in tokens.
type Usage struct{ In, Read, Written, Out int64 }

func (u Usage) plus(o Usage) Usage {
	return Usage{u.In + o.In, u.Read + o.Read, u.Written + o.Written, u.Out + o.Out}
}

// Fault is an answer that is none.
type Fault struct {
	Status  int // 0: the answer begins, and is not ended
	Kind    string
	Message string
	Header  map[string]string
	Stall   bool // nothing comes until the caller gives up, or the server is closed
	Garbage bool // the stream is no JSON
}

// Status is the turn of a request that is refused.
func Status(status int, kind, message string, header ...string) Turn {
	f := &Fault{Status: status, Kind: kind, Message: message, Header: map[string]string{}}
	for i := 0; i+1 < len(header); i += 2 {
		f.Header[header[i]] = header[i+1]
	}
	return Turn{Fault: f}
}

// Cut is the turn of a connection that breaks in the middle of an answer.
func Cut() Turn { return Turn{Text: "I was about to", Fault: &Fault{}} }

// Server is a model server on loopback.
type Server struct {
	URL string // for OpenAI's, with /v1 after it

	script Script
	mu     sync.Mutex
	all    []Request
	spent  Usage
}

// New starts a server that ends with the test.
func New(t testing.TB, script Script) *Server {
	s := &Server{script: script}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // of those that stall
	s.URL = server.URL
	return s
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.all...)
}

// Spent returns what the answers so far have cost.
func (s *Server) Spent() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := Request{Header: r.Header.Clone(), Body: body}
	var write func(stream, Request, Turn)
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		req.API, write = Messages, messages
	case strings.HasSuffix(path, "/responses"):
		req.API, write = Responses, responses
	case strings.HasSuffix(path, "/chat/completions"):
		req.API, write = Chat, chat
	case strings.HasSuffix(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		req.API, write, req.Whole = Gemini, gemini, strings.HasSuffix(path, ":generateContent")
	case strings.HasSuffix(path, "/count_tokens"), strings.HasSuffix(path, ":countTokens"):
		whole(w, object{"input_tokens": 1000, "totalTokens": 1000})
		return
	default:
		http.NotFound(w, r)
		return
	}
	if err := req.read(); err != nil {
		refuse(w, req.API, &Fault{Status: http.StatusBadRequest, Kind: "invalid_request_error", Message: err.Error()})
		return
	}
	s.mu.Lock()
	req.N = len(s.all) + 1
	s.all = append(s.all, req)
	turn := s.script(req)
	turn.Usage = cmp.Or(turn.Usage, Usage{In: 100, Read: 1000, Written: 20, Out: 50})
	if turn.Fault == nil {
		s.spent = s.spent.plus(turn.Usage)
	}
	s.mu.Unlock()
	switch f := turn.Fault; {
	case f != nil && f.Stall:
		<-r.Context().Done()
	case f != nil && f.Status != 0:
		refuse(w, req.API, f)
	case f != nil && f.Garbage:
		open(w).raw("event: message_start\ndata: {\"type\": \"mess\n\n")
	case req.Whole && f == nil:
		write(stream{w, true}, req, turn)
	default:
		write(open(w), req, turn)
		if f != nil {
			panic(http.ErrAbortHandler) // the connection breaks
		}
	}
}

// refuse writes an error as the interface has it.
func refuse(w http.ResponseWriter, api API, f *Fault) {
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	body := object{"error": object{"type": f.Kind, "code": f.Kind, "message": f.Message}}
	switch api {
	case Messages:
		body = object{"type": "error", "error": object{"type": f.Kind, "message": f.Message}, "request_id": "req_1"}
	case Gemini:
		body = object{"error": object{"code": f.Status, "status": strings.ToUpper(f.Kind), "message": f.Message}}
	}
	_ = json.NewEncoder(w).Encode(body) // the caller may be gone
}

// whole writes an answer that is no stream.
func whole(w http.ResponseWriter, body object) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // the caller may be gone
}

type object = map[string]any

// stream writes server-sent events, or one object.
type stream struct {
	http.ResponseWriter
	whole bool
}

func open(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return stream{w, false}
}

func (s stream) send(event string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if event != "" {
		event = "event: " + event + "\n"
	}
	s.raw(fmt.Sprintf("%sdata: %s\n\n", event, text))
}

func (s stream) raw(text string) {
	_, _ = io.WriteString(s, text) // the caller may be gone
	_ = http.NewResponseController(s.ResponseWriter).Flush()
}
