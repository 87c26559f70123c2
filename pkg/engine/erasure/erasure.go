// Package erasure takes the texts and the name of a person out of a commit.
package erasure

import (
	"fmt"
	"regexp"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Mark stands where a name or a text was.
const Mark = "erased"

// Wish is what to erase: all texts of an instance, or a person everywhere.
type Wish struct {
	instance string
	name     *regexp.Regexp // nil: no person
}

// Instance wishes that all texts of an instance are erased.
func Instance(id string) Wish { return Wish{instance: id} }

// Person wishes that the name of a person on the forge is erased, and the texts that the person wrote.
func Person(name string) Wish {
	return Wish{name: regexp.MustCompile(`(?i)(^|[^0-9A-Za-z_-])` + regexp.QuoteMeta(name) + `($|[^0-9A-Za-z_-])`)}
}

// Erase returns what is left of the data of a commit. changed is false if it has nothing to erase.
func (w Wish) Erase(c eventstore.Commit) (data []byte, changed bool, err error) {
	if w.instance != "" && w.instance != c.Instance {
		return c.Data, false, nil
	}
	var body pb.Commit
	if err := proto.Unmarshal(c.Data, &body); err != nil {
		return nil, false, fmt.Errorf("%w: commit %d of %s: %w", eventstore.ErrCorrupt, c.Seq, c.Instance, err)
	}
	own := w.instance != "" || w.names(body.GetActor())
	e := eraser{wish: w}
	body.Actor = e.person(body.GetActor())
	for _, event := range body.GetEvents() {
		e.message(event.ProtoReflect(), own || w.writes(event.ProtoReflect()))
	}
	if !e.changed {
		return c.Data, false, nil
	}
	data, err = proto.MarshalOptions{Deterministic: true}.Marshal(&body)
	return data, true, err
}

func (w Wish) names(text string) bool { return w.name != nil && w.name.MatchString(text) }

// The fields of the messages of events, by the name of the message. All other fields are structure: states, roles, hashes.
func people(f protoreflect.FieldDescriptor) bool {
	switch f.ContainingMessage().Name() {
	case "Issue":
		return f.Name() == "author" || f.Name() == "admitted_by"
	case "Signalled":
		return f.Name() == "actor"
	case "Answered", "Answer", "Resolved", "BudgetRaised", "DayRaised", "AcceptedTest":
		return f.Name() == "by"
	case "Noted":
		return f.Name() == "author"
	case "Judgement":
		return f.Name() == "waived"
	case "Evidence":
		return f.Name() == "agent"
	}
	return false
}

// texts reports whether a field has words of a person or of an agent.
func texts(f protoreflect.FieldDescriptor) bool {
	switch f.ContainingMessage().Name() {
	case "Issue":
		return slices.Contains([]protoreflect.Name{"title", "body", "labels", "url"}, f.Name())
	case "Result":
		return slices.Contains([]protoreflect.Name{"issues_found", "summary", "questions", "forms", "sections", "data"}, f.Name())
	case "QuestionForm":
		return slices.Contains([]protoreflect.Name{"options", "default", "reason"}, f.Name())
	case "Opened", "Remembered":
		return f.Name() == "vars"
	case "Evidence", "ShownTest", "DemoRun":
		return f.Name() == "output"
	case "Judgement":
		return f.Name() == "question"
	case "Signalled":
		return f.Name() == "data"
	case "Asked", "Answered", "Answer", "Noted", "Resolved":
		return f.Name() == "text"
	case "StatementRefused":
		return f.Name() == "said"
	case "Released", "Moved", "Paused", "Resumed", "Cancelled", "Reopened", "Escalated", "ParkedUntil", "LoopDetected", "Spawned",
		"Dispatched", "GateRefused", "Migrated":
		return f.Name() == "reason"
	}
	return f.Name() == "sections"
}

// worded reports whether a value of a map of texts has words. Of variables and of the data of
// results, which are for programs, only the text of a story has.
func worded(f protoreflect.FieldDescriptor, key string) bool {
	if f.Name() == "sections" || f.ContainingMessage().Name() == "Signalled" {
		return key != "permission"
	}
	return key == "story"
}

// writes reports whether the person wrote the texts of an event.
func (w Wish) writes(m protoreflect.Message) (found bool) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case people(f):
			found = found || w.names(v.String())
		case f.Kind() == protoreflect.MessageKind && !f.IsList() && !f.IsMap():
			found = found || w.writes(v.Message())
		}
		return !found
	})
	return found
}

// eraser erases fields.
type eraser struct {
	wish    Wish
	changed bool
}

// message erases in a message and those in it. own means that its texts are to go altogether.
func (e *eraser) message(m protoreflect.Message, own bool) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		erase := func(s string) string { return s }
		switch {
		case people(f):
			erase = e.person
		case texts(f):
			erase = func(s string) string { return e.text(s, own) }
		}
		switch {
		case f.IsMap() && f.MapValue().Kind() == protoreflect.StringKind:
			v.Map().Range(func(k protoreflect.MapKey, one protoreflect.Value) bool {
				if worded(f, k.String()) {
					v.Map().Set(k, protoreflect.ValueOfString(erase(one.String())))
				}
				return true
			})
		case f.IsList() && f.Kind() == protoreflect.StringKind:
			for i := range v.List().Len() {
				v.List().Set(i, protoreflect.ValueOfString(erase(v.List().Get(i).String())))
			}
		case f.IsList() && f.Kind() == protoreflect.MessageKind:
			for i := range v.List().Len() {
				e.message(v.List().Get(i).Message(), own)
			}
		case f.IsMap() && f.MapValue().Kind() == protoreflect.MessageKind:
			e.messages(v.Map(), erase, own)
		case f.IsMap() || f.IsList():
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(erase(v.String())))
		case f.Kind() == protoreflect.MessageKind:
			e.message(v.Message(), own)
		}
		return true
	})
}

// messages erases in the messages of a map and in its keys, such as the texts of questions.
func (e *eraser) messages(all protoreflect.Map, erase func(string) string, own bool) {
	renamed := map[string]protoreflect.Value{}
	all.Range(func(k protoreflect.MapKey, one protoreflect.Value) bool {
		e.message(one.Message(), own)
		if key := erase(k.String()); key != k.String() {
			renamed[key] = one
			all.Clear(k)
		}
		return true
	})
	for key, one := range renamed {
		all.Set(protoreflect.ValueOfString(key).MapKey(), one)
	}
}

// person erases the name in the name of an actor. Of an instance that is erased altogether the actors stay: a role is
// no person, and a person may be named apart.
func (e *eraser) person(s string) string {
	if !e.wish.names(s) {
		return s
	}
	return e.name(s)
}

func (e *eraser) text(s string, own bool) string {
	switch {
	case s == "" || s == Mark || s == jsonMark:
		return s
	case own && (s[0] == '{' || s[0] == '['):
		e.changed = true
		return jsonMark
	case own:
		e.changed = true
		return Mark
	case e.wish.names(s):
		return e.name(s)
	}
	return s
}

// jsonMark stands for a section of a document, which is JSON.
const jsonMark = "{}"

// name puts the mark in the place of each name. A match has the characters around it, so the next one may begin with
// the last of it: hence the loop.
func (e *eraser) name(s string) string {
	for e.wish.names(s) {
		s = e.wish.name.ReplaceAllString(s, "${1}"+Mark+"${2}")
	}
	e.changed = true
	return s
}
