package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// readGemini reads the body of a request to Gemini. Its calls have no ids: a result
// belongs to the call of its name.
func (r *Request) readGemini() error {
	var body struct {
		Tools []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Contents []struct {
			Role  string `json:"role"`
			Parts []struct {
				Text string `json:"text"`
				Call *struct {
					Name string `json:"name"`
				} `json:"functionCall"`
				Result *struct {
					Name     string          `json:"name"`
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
		Config struct {
			Type string `json:"responseMimeType"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	r.Object = body.Config.Type == "application/json"
	for _, t := range body.Tools {
		for _, f := range t.Functions {
			r.Tools = append(r.Tools, f.Name)
		}
	}
	open := map[string]int{}
	for _, c := range body.Contents {
		for _, p := range c.Parts {
			switch {
			case p.Call != nil:
				open[p.Call.Name]++
				r.Calls = append(r.Calls, p.Call.Name)
			case p.Result != nil:
				if open[p.Result.Name]--; open[p.Result.Name] < 0 {
					return fmt.Errorf("a result of %s, which was not called", p.Result.Name)
				}
				r.Results, r.Last = append(r.Results, string(p.Result.Response)), ""
			case c.Role == "user" && r.Prompt == "":
				r.Prompt = p.Text
			case c.Role == "user":
				r.Last = strings.TrimSpace(p.Text)
			}
		}
	}
	for name, n := range open {
		if n > 0 {
			return fmt.Errorf("the call of %s has no result", name)
		}
	}
	return nil
}

// gemini answers as Gemini's generateContent.
func gemini(s stream, r Request, t Turn) {
	reply := func(finish any, parts ...any) object {
		candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
		if finish != nil {
			candidate["finishReason"] = finish
		}
		in := t.Usage.In + t.Usage.Read + t.Usage.Written
		return object{"candidates": []any{candidate}, "modelVersion": "scripted", "usageMetadata": object{"promptTokenCount": in,
			"cachedContentTokenCount": t.Usage.Read, "candidatesTokenCount": t.Usage.Out, "totalTokenCount": in + t.Usage.Out}}
	}
	parts := []any{}
	for _, c := range t.Calls {
		parts = append(parts, object{"functionCall": object{"name": c.Name, "args": json.RawMessage(c.Args)}})
	}
	finish := "STOP"
	if t.Full {
		finish = "MAX_TOKENS"
	}
	if t.Text != "" && (s.whole || len(parts) == 0) {
		parts = append([]any{object{"text": t.Text}}, parts...)
	} else if t.Text != "" {
		s.send("", reply(nil, object{"text": t.Text}))
	}
	switch {
	case s.whole:
		whole(s, reply(finish, parts...))
	case t.Fault == nil:
		s.send("", reply(finish, parts...))
	case len(parts) > 0:
		s.send("", reply(nil, parts...))
	}
}
