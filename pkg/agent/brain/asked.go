package brain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/question"
)

// asked is a question of a stated result: a text, or an object with the form of its answer.
type asked struct {
	text string
	form question.Wanted
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *asked) UnmarshalJSON(text []byte) error {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &a.text)
	}
	var object struct {
		Question string   `json:"question"`
		Kind     string   `json:"kind"`
		Options  []string `json:"options"`
		Default  string   `json:"default"`
		Reason   string   `json:"reason"`
		Within   string   `json:"within"`
	}
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	if object.Kind == "text" {
		object.Kind = string(question.Text)
	}
	within, err := within(object.Within)
	if err != nil {
		return err
	}
	a.text = object.Question
	a.form, err = question.Wanted{Within: within, Form: question.Form{Kind: question.Kind(object.Kind), Options: object.Options,
		Default: object.Default, Reason: object.Reason}}.Clean()
	if err != nil {
		return fmt.Errorf("%q: %w", short(object.Question), err)
	}
	return nil
}

// formed returns the texts of questions, and the forms of those that have one.
func formed(all []asked) (texts []string, forms map[string]question.Wanted) {
	for _, a := range all {
		texts = append(texts, a.text)
		if a.form.Kind != question.Text || a.form.Default != "" || a.form.Reason != "" || a.form.Within > 0 {
			if forms == nil {
				forms = map[string]question.Wanted{}
			}
			forms[a.text] = a.form
		}
	}
	return texts, forms
}

var spans = lazyregexp.New(`(?i)^(\d{1,4})\s*(minute|min|m|hour|h|day|d|week|w)s?$`)

// within reads a duration such as 48h, 90m or 3 days; empty: none.
func within(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	if m := spans.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits, and few
		unit := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
		return time.Duration(n) * unit[strings.ToLower(m[2])[0]], nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("within: %q: want a duration such as 48h or 3 days", short(text))
	}
	return d, nil
}

// formKeys are the keys of the form of a question, and what programs call them.
func formKeys() map[string]string {
	return map[string]string{"kind": "kind", "type": "kind", "options": "options", "choices": "options", "default": "default",
		"reason": "reason", "why": "reason", "within": "within", "deadline": "within", "timeout": "within"}
}

// questions reads the questions for people: texts, and objects with a form.
func (r *reading) questions() {
	value, ok := r.object["questions"]
	if !ok {
		return
	}
	all, list := value.([]any)
	if !list {
		r.note("questions as a list")
		all = []any{value}
	}
	kept := []any{}
	for _, one := range all {
		if form := r.form(one); form != nil {
			kept = append(kept, form)
			continue
		}
		text, whole := worded(one)
		if !whole {
			r.note("questions as texts")
		}
		if text = strings.TrimSpace(text); text != "" {
			kept = append(kept, r.cut("questions", text, maxText))
		}
	}
	r.object["questions"] = r.atMost("questions", kept, maxAsked)
}

// form returns a question that is an object with a form; nil: it is none.
func (r *reading) form(value any) map[string]any {
	object, _ := value.(map[string]any)
	text, _ := worded(either(object, "question", "text"))
	form := map[string]any{}
	for key, value := range object {
		switch name := formKeys()[folded(key)]; name {
		case "":
		case "options":
			var options []any
			if list, ok := value.([]any); ok {
				for _, o := range list {
					option, _ := worded(o)
					options = append(options, option)
				}
			}
			form[name] = options
		default:
			form[name], _ = worded(value)
		}
	}
	if text = strings.TrimSpace(text); text == "" || len(form) == 0 {
		return nil
	}
	form["question"] = r.cut("questions", text, maxText)
	kind, _ := form["kind"].(string)
	switch folded(kind) {
	case "choice", "multiplechoice", "select", "enum":
		form["kind"] = string(question.Choice)
	case "yesno", "yes/no", "boolean", "bool", "confirm":
		form["kind"] = string(question.YesNo)
	case "number", "numeric", "integer", "int", "float":
		form["kind"] = string(question.Number)
	case "text", "string", "freetext", "open":
		form["kind"] = "text"
	case "":
		if form["options"] != nil {
			form["kind"] = string(question.Choice)
		}
	}
	return form
}
