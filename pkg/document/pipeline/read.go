package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// maxSection is how many bytes one section may have: it becomes part of an event.
const maxSection = 128 << 10

// Read makes an outcome of what a program did to the document: before is the one
// it was given, after the one it left. Parts that its role may not change stay as
// they were and are named in Outcome.Refused. An error, which wraps ErrInvalid, is what
// is wrong with what it may change.
func Read(a work.Assignment, before Document, after []byte) (work.Outcome, error) {
	out := work.Outcome{Result: instance.Result{Status: instance.Success, ConfidenceScore: 1}}
	was, err := before.keys()
	if err != nil {
		return out, err
	}
	var now map[string]json.RawMessage
	if err := json.Unmarshal(mended(bytes.TrimPrefix(after, []byte("\ufeff"))), &now); err != nil || now == nil {
		return out, fmt.Errorf("%w: the state file is not a JSON object", ErrInvalid)
	}
	r := reading{a: a, role: a.Role, section: sectionOf(a.Role), before: before, out: &out, said: Pipeline{Status: InProgress}}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if same(was[name], now[name]) {
			continue
		}
		if err := r.changed(name, now[name], was[name]); err != nil {
			return out, err
		}
	}
	r.status()
	return out, nil
}

// keys are the document's parts by name.
func (d Document) keys() (map[string]json.RawMessage, error) {
	text, err := d.Encode()
	if err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	return keys, json.Unmarshal(text, &keys)
}

// same reports whether two texts are the same JSON.
func same(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, perr := json.Marshal(x)
	q, qerr := json.Marshal(y)
	return perr == nil && qerr == nil && bytes.Equal(p, q)
}

// reading is one Read under way.
type reading struct {
	a       work.Assignment
	role    string
	section string // the role's own
	before  Document
	out     *work.Outcome

	said Pipeline // what the role says of the run
}

func (r *reading) refuse(what string, args ...any) {
	r.out.Refused = append(r.out.Refused, fmt.Sprintf(what, args...)+" is not the "+r.role+"'s to change; it stays as it was")
}

func (r *reading) changed(name string, now, was json.RawMessage) error {
	switch {
	case name == r.section && r.a.Question == nil:
		return r.own(now)
	case name == "communication":
		return r.communication(now)
	case name == "learnings":
		return r.learnings(now)
	case name == "pipeline" || name == "review":
		return r.within(name, now, was)
	}
	r.refuse("%s", name)
	return nil
}

// within takes a section of another role, with a key that this role may change.
func (r *reading) within(name string, now, was json.RawMessage) error {
	var then, keys map[string]json.RawMessage
	if err := json.Unmarshal(was, &then); err != nil {
		return err
	}
	if json.Unmarshal(now, &keys) != nil || keys == nil {
		r.refuse("%s", name)
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		full := name + "." + key
		permitted, heeded := may(r.role, full)
		switch {
		case same(then[key], keys[key]):
		case !permitted || r.a.Question != nil:
			r.refuse("%s", full)
		case !heeded:
		case name == "review":
			review, err := over("review", r.before.Review, map[string]json.RawMessage{key: keys[key]})
			if err != nil {
				return err
			}
			r.put("review", review)
		default:
			said, err := over("pipeline", r.said, map[string]json.RawMessage{key: keys[key]})
			if err != nil {
				return err
			}
			r.said = said
		}
	}
	return nil
}

func (r *reading) put(section string, value any) {
	if r.out.Result.Sections == nil {
		r.out.Result.Sections = map[string]string{}
	}
	r.out.Result.Sections[section] = string(encode(value))
	r.out.Declared = true
}

// status is the result's, by what the role says of the run.
func (r *reading) status() {
	res := &r.out.Result
	switch r.said.Status {
	case Blocked:
		res.Status, res.Summary = instance.Blocked, strings.TrimSpace(r.said.BlockedReason)
	case Failed:
		res.Status, res.Summary = instance.Failure, strings.TrimSpace(r.said.FailureReason)
	default:
		return
	}
	r.out.Declared = true
}
