package brain

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Limits of ResultSchema, to which ReadResult cuts longer values.
const (
	maxSummary  = 20000
	maxText     = 4000
	maxAnswer   = 20000
	maxName     = 200
	maxData     = 8000
	maxIssues   = 100
	maxAsked    = 20
	maxDataKeys = 50
)

// ReadResult decodes a stated result like DecodeResult, and accepts in addition each
// spelling that has one plain meaning: a byte order mark, the status in capitals, 95 for
// 0.95, a number as text, a text that is too long. A note of the outcome lists the values
// that it converted, cut or left out. Its errors wrap ErrInvalidResult.
func ReadResult(text []byte) (Outcome, error) {
	object, err := resultObject(text)
	if err != nil {
		return Outcome{}, err
	}
	r := reading{object: object}
	r.names()
	r.values()
	clean, err := json.Marshal(r.object)
	if err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrInvalidResult, err)
	}
	out, err := DecodeResult(clean)
	if err == nil && len(r.changed) > 0 {
		slices.Sort(r.changed)
		out.Notes = append(out.Notes, instance.NoteEntry{Kind: "warning", Text: "the result was read as: " +
			strings.Join(slices.Compact(r.changed), "; ")})
	}
	if err == nil && len(r.unknown) > 0 {
		slices.Sort(r.unknown)
		out.Notes = append(out.Notes, instance.NoteEntry{Kind: "warning", Text: fmt.Sprintf("the result has keys that do not count: %q", r.unknown)})
	}
	return out, err
}

// resultObject returns the one object of a text: alone, in a list of one, in a JSON text, or
// under a single key such as "result". Of several JSON values it is the last object.
func resultObject(text []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(Plain(text)))
	dec.UseNumber()
	var last map[string]any
	var first error
	for n := 0; ; n++ {
		var value any
		err := dec.Decode(&value)
		if errors.Is(err, io.EOF) && n > 0 {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: not JSON: %w", ErrInvalidResult, err)
		}
		object := unwrapped(value)
		if object == nil && first == nil {
			first = fmt.Errorf("%w: it is %s, want an object with a status", ErrInvalidResult, kind(value))
		}
		if object != nil {
			last = object
		}
	}
	if last == nil {
		return nil, first
	}
	return last, nil
}

// unwrapped returns the object that a value is or plainly holds; nil: none.
func unwrapped(value any) map[string]any {
	switch v := value.(type) {
	case map[string]any:
		if len(v) != 1 {
			return v
		}
		for key, inner := range v {
			if object, ok := inner.(map[string]any); ok && slices.Contains([]string{"result", "output", "structured_output"}, key) {
				return object
			}
		}
		return v
	case []any:
		if len(v) == 1 {
			return unwrapped(v[0])
		}
	case string:
		dec := json.NewDecoder(strings.NewReader(v))
		dec.UseNumber()
		var inner any
		if dec.Decode(&inner) == nil {
			if object, ok := inner.(map[string]any); ok {
				return object
			}
		}
	}
	return nil
}

// Plain returns a text in UTF-8, without a byte order mark and without blanks around it.
func Plain(text []byte) []byte {
	for mark, order := range map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		if rest, found := bytes.CutPrefix(text, []byte(mark)); found {
			units := make([]uint16, len(rest)/2)
			for i := range units {
				units[i] = order.Uint16(rest[2*i:])
			}
			text = []byte(string(utf16.Decode(units)))
		}
	}
	return bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
}

// reading is a result that is being read.
type reading struct {
	object  map[string]any
	changed []string // how values were read that the schema refuses
	unknown []string // keys that no result has
}

// note records how a value was read.
func (r *reading) note(format string, args ...any) {
	r.changed = append(r.changed, fmt.Sprintf(format, args...))
}

// aliases are names by which programs call the keys of a result.
func aliases() map[string]string {
	return map[string]string{"confidence": "confidence_score", "issues": "issues_found", "usage": "spend", "usagemetadata": "spend", "cost": "spend"}
}

// names gives each key the name that a result has for it, whatever its case and separators. It
// leaves out null and the keys that no result has.
func (r *reading) names() {
	known := map[string]string{}
	for _, key := range ResultKeys() {
		known[folded(key)] = key
	}
	named := map[string]any{}
	for _, exact := range []bool{true, false} { // a key's own name comes first
		for key, value := range r.object {
			name := known[folded(key)]
			if name == "" {
				name = aliases()[folded(key)]
			}
			if (name == key) != exact {
				continue
			}
			_, taken := named[name]
			switch {
			case value == nil:
			case name == "" || taken:
				r.unknown = append(r.unknown, key)
			default:
				if !exact {
					r.note("%s as %s", short(key), name)
				}
				named[name] = withoutNull(value)
			}
		}
	}
	r.object = named
}

// folded returns a key without case and separators.
func folded(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(key))
}

// values gives each value the type that a result has for it, where its meaning is plain.
func (r *reading) values() {
	o := r.object
	o["status"] = r.status(o["status"])
	if o["status"] == nil {
		delete(o, "status")
	}
	if v, ok := o["confidence_score"]; ok {
		o["confidence_score"] = r.confidence(v)
	}
	r.text("summary", maxSummary)
	r.text("next", maxName)
	r.text("failure_signature", maxName)
	r.texts("issues_found", maxIssues)
	r.questions()
	r.objects("answers", maxIssues, r.answer)
	r.objects("asks", maxAsked, r.ask)
	r.escalation()
	r.data()
	r.spend()
}

// status returns the status that a word stands for, or the value itself.
func (r *reading) status(value any) any {
	word := ""
	switch v := value.(type) {
	case string:
		word = strings.ToLower(strings.Trim(strings.TrimSpace(v), ".!*_\"'`"))
	case bool:
		word = fmt.Sprint(v)
	}
	word = strings.NewReplacer("-", "_", " ", "_").Replace(word)
	means := map[string]instance.Status{}
	for status, words := range map[instance.Status]string{
		instance.Success: "success succeeded successful ok okay done complete completed pass passed true",
		instance.Failure: "failure failed fail error errored unsuccessful false",
		instance.Blocked: "blocked needs_info needs_input needs_clarification stuck",
	} {
		for w := range strings.FieldsSeq(words) {
			means[w] = status
		}
	}
	status, known := means[word]
	if !known {
		return value
	}
	if value != string(status) {
		r.note("status %s as %s", show(value), status)
	}
	return string(status)
}

// confidence returns a number from 0 to 1 for one in per cent. From 1 to 10 a number may be
// of another scale, unless it is marked as per cent.
func (r *reading) confidence(value any) any {
	n, marked, ok := number(value)
	stated := n
	const ambiguous, all = 10, 100
	if ok && (marked || n > ambiguous) && n >= 0 && n <= all {
		n /= all
	}
	if !ok || n < 0 || n > 1 {
		return value
	}
	if _, plain := value.(json.Number); !plain || stated != n {
		r.note("confidence_score %s as %v", show(value), n)
	}
	return n
}

// text makes a key's value a text of at most max characters.
func (r *reading) text(key string, max int) {
	value, ok := r.object[key]
	if !ok {
		return
	}
	text, whole := worded(value)
	if !whole {
		r.note("%s as text", key)
	}
	r.object[key] = r.cut(key, text, max)
}

// texts makes a key's value a list of texts that are not empty.
func (r *reading) texts(key string, max int) {
	value, ok := r.object[key]
	if !ok {
		return
	}
	all, list := value.([]any)
	if !list {
		r.note("%s as a list", key)
		all = []any{value}
	}
	kept := []any{}
	for _, one := range all {
		text, whole := worded(one)
		if !whole {
			r.note("%s as texts", key)
		}
		if text = strings.TrimSpace(text); text != "" {
			kept = append(kept, r.cut(key, text, maxText))
		}
	}
	r.object[key] = r.atMost(key, kept, max)
}

// objects makes a key's value a list of the objects that read returns; it leaves out the
// entries for which that is nil.
func (r *reading) objects(key string, max int, read func(any) map[string]any) {
	value, ok := r.object[key]
	if !ok {
		return
	}
	all, list := value.([]any)
	if !list {
		r.note("%s as a list", key)
		all = []any{value}
	}
	kept := []any{}
	for _, one := range all {
		if object := read(one); object != nil {
			kept = append(kept, object)
		} else {
			r.note("%s without %s", key, show(one))
		}
	}
	r.object[key] = r.atMost(key, kept, max)
}

// answer returns an answer to a question; nil: it is none.
func (r *reading) answer(value any) map[string]any {
	object, _ := value.(map[string]any)
	said, _ := worded(either(object, "text", "answer"))
	asked, _ := worded(either(object, "question", "number"))
	n, _, ok := number(strings.TrimLeft(asked, "Qq#"))
	if said = strings.TrimSpace(said); !ok || n < 1 || n != float64(int(n)) || said == "" {
		return nil
	}
	answer := map[string]any{"question": int(n), "text": r.cut("answers", said, maxAnswer)}
	if by, _ := worded(object["by"]); by != "" {
		answer["by"] = r.cut("answers", by, maxName)
	}
	return answer
}

// ask returns a question to a role; nil: it is none.
func (r *reading) ask(value any) map[string]any {
	object, _ := value.(map[string]any)
	to, _ := worded(either(object, "to", "role"))
	question, _ := worded(either(object, "question", "text"))
	if to, question = strings.TrimSpace(to), strings.TrimSpace(question); to == "" || question == "" {
		return nil
	}
	return map[string]any{"to": to, "question": r.cut("asks", question, maxAnswer)}
}

// escalation reads the key escalate. A text is its reason; without the word of the program
// people are required.
func (r *reading) escalation() {
	value, ok := r.object["escalate"]
	if !ok {
		return
	}
	object, _ := value.(map[string]any)
	reason, _ := worded(object["reason"])
	needed := any(true)
	switch v := value.(type) {
	case bool:
		if reason, _ = worded(r.object["summary"]); !v || strings.TrimSpace(reason) == "" {
			delete(r.object, "escalate")
			return
		}
	case string:
		reason = v
	case map[string]any:
		if stated, ok := v["requires_human"]; ok {
			needed = stated
		}
	}
	if word, ok := needed.(string); ok {
		needed = !slices.Contains([]string{"false", "no"}, strings.ToLower(strings.TrimSpace(word)))
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		return // the schema says so
	}
	r.object["escalate"] = map[string]any{"reason": r.cut("escalate", reason, maxText), "requires_human": needed}
}

// data makes each value of the key data a text.
func (r *reading) data() {
	value, ok := r.object["data"]
	if !ok {
		return
	}
	object, ok := value.(map[string]any)
	if !ok {
		r.note("data left out, for it is %s", kind(value))
		delete(r.object, "data")
		return
	}
	all := map[string]any{}
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i == maxDataKeys {
			r.note("data cut to %d keys", maxDataKeys)
			break
		}
		text, _ := worded(object[key])
		all[key] = r.cut("data", text, maxData)
	}
	r.object["data"] = all
}

// spend reads the names that programs have for tokens and costs.
func (r *reading) spend() {
	value, ok := r.object["spend"]
	if !ok {
		return
	}
	object, _ := value.(map[string]any)
	sums := map[string]float64{}
	names := map[string]string{
		"tokensin": "tokens_in", "inputtokens": "tokens_in", "prompttokens": "tokens_in", "prompttokencount": "tokens_in",
		"cachereadinputtokens": "tokens_in", "cachecreationinputtokens": "tokens_in",
		"tokensout": "tokens_out", "outputtokens": "tokens_out", "completiontokens": "tokens_out", "candidatestokencount": "tokens_out", "thoughtstokencount": "tokens_out",
		"usd": "usd", "costusd": "usd", "totalcostusd": "usd", "cost": "usd", "wallms": "wall_ms", "durationms": "wall_ms",
	}
	for key, value := range object {
		name := names[folded(key)]
		n, _, ok := number(value)
		if name == "" || !ok || n < 0 {
			r.note("spend without %s", short(key))
			continue
		}
		if name != key {
			r.note("spend %s as %s", short(key), name)
		}
		sums[name] += n
	}
	read := map[string]any{}
	for name, n := range sums {
		read[name] = n
		if name != "usd" {
			read[name] = int64(n)
		}
	}
	r.object["spend"] = read
}

// cut returns at most max characters of a text.
func (r *reading) cut(key, text string, max int) string {
	runes := []rune(text)
	if len(runes) <= max {
		return text
	}
	r.note("%s cut to %d characters of %d", key, max, len(runes))
	return string(runes[:max-1]) + "…"
}

// atMost returns the first entries of a list.
func (r *reading) atMost(key string, all []any, max int) []any {
	if len(all) <= max {
		return all
	}
	r.note("%s cut to %d of %d", key, max, len(all))
	return all[:max]
}
