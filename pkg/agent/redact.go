package agent

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
)

// redactor takes credentials out of what an agent records. A record is kept for ever and
// read by every later role. A nil scanner takes out nothing.
type redactor struct{ *secret.Scanner }

// text returns a text without credentials.
func (r redactor) text(s string) string {
	if r.Scanner == nil {
		return s
	}
	return r.Redact(s)
}

func (r redactor) texts(all []string) []string {
	return apply(all, r.text)
}

// apply returns a list with each value replaced; nil stays nil.
func apply[T any](all []T, by func(T) T) []T {
	all = slices.Clone(all)
	for i := range all {
		all[i] = by(all[i])
	}
	return all
}

func (r redactor) values(all map[string]string) map[string]string {
	all = maps.Clone(all)
	for name, text := range all {
		all[name] = r.text(text)
	}
	return all
}

// sections returns sections of a document, whose texts are JSON.
func (r redactor) sections(all map[string]string) map[string]string {
	all = maps.Clone(all)
	for name, text := range all {
		all[name] = r.json(text)
	}
	return all
}

// json redacts the texts within a JSON text, so that it stays one.
func (r redactor) json(text string) string {
	if r.text(text) == text {
		return text
	}
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	var value any
	if in.Decode(&value) != nil {
		return r.text(text) // it is none, and is refused as one
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.value(value)); err != nil {
		return r.text(text)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (r redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case []any:
		return apply(v, r.value)
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, one := range v {
			if text, ok := one.(string); ok { // some are known by what they are the value of
				if pair := key + ": \"" + text + "\""; r.text(pair) != pair && r.text(text) == text {
					one = "[redacted]"
				}
			}
			clean[r.text(key)] = r.value(one)
		}
		return clean
	}
	return v
}

// result returns a result without credentials. Most have none, which one scan of
// all their texts tells.
func (r redactor) result(in instance.Result) instance.Result {
	if r.Scanner == nil || len(r.Scan(all(in))) == 0 {
		return in
	}
	in.Summary = r.text(in.Summary)
	in.IssuesFound, in.Questions = r.texts(in.IssuesFound), r.texts(in.Questions)
	in.Forms = r.forms(in.Forms)
	in.Answers = apply(in.Answers, func(a instance.QuestionAnswer) instance.QuestionAnswer {
		a.Text = r.text(a.Text)
		return a
	})
	in.Evidence = apply(in.Evidence, func(ev instance.Evidence) instance.Evidence {
		ev.Command, ev.Output, ev.Failed, ev.Data = r.text(ev.Command), r.text(ev.Output), r.texts(ev.Failed), r.values(ev.Data)
		if ev.Judgement != nil {
			clean := ev.Judgement.Map(r.text)
			ev.Judgement = &clean
		}
		if ev.Demo != nil {
			clean := ev.Demo.Map(r.text)
			ev.Demo = &clean
		}
		return ev
	})
	in.Data, in.Sections = r.values(in.Data), r.sections(in.Sections)
	return in
}

// forms returns the forms of questions that have no credentials. A question whose form has one
// permits any words.
func (r redactor) forms(all map[string]question.Wanted) map[string]question.Wanted {
	clean := make(map[string]question.Wanted, len(all))
	for asked, w := range all {
		if text := strings.Join(append([]string{w.Default, w.Reason}, w.Options...), "\n"); r.text(text) == text {
			clean[r.text(asked)] = w
		}
	}
	return clean
}

// all returns the texts of a result, a line each at least.
func all(in instance.Result) string {
	var b strings.Builder
	add := func(texts ...string) {
		for _, t := range texts {
			b.WriteString(t)
			b.WriteByte('\n')
		}
	}
	add(in.Summary)
	add(in.IssuesFound...)
	add(in.Questions...)
	for _, w := range in.Forms {
		add(w.Default, w.Reason)
		add(w.Options...)
	}
	for _, a := range in.Answers {
		add(a.Text)
	}
	for _, ev := range in.Evidence {
		add(ev.Command, ev.Output)
		add(ev.Failed...)
		for _, text := range ev.Data {
			add(text)
		}
		if ev.Judgement != nil {
			ev.Judgement.Map(func(text string) string { add(text); return text })
		}
		if ev.Demo != nil {
			ev.Demo.Map(func(text string) string { add(text); return text })
		}
	}
	for _, text := range in.Data {
		add(text)
	}
	for _, text := range in.Sections {
		add(text)
	}
	return b.String()
}
