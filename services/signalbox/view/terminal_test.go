package view

import (
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// hostile has escapes that set a title and a colour, a bell, what overwrites a line, and
// what turns the text around.
const hostile = "x\x1b]0;title\a\x1b[31m\u009b2J\rover\u202ewritten\u200b\x7f\u2066"

// spoil sets every field of a message, texts to hostile ones.
func spoil(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap():
			entries := m.Mutable(f).Map()
			if f.MapKey().Kind() == protoreflect.StringKind && f.MapValue().Kind() == protoreflect.StringKind {
				entries.Set(protoreflect.ValueOfString(hostile).MapKey(), protoreflect.ValueOfString(hostile))
			}
		case f.IsList():
			list := m.Mutable(f).List()
			if f.Kind() == protoreflect.MessageKind {
				if depth > 0 {
					spoil(list.AppendMutable().Message(), depth-1)
				}
			} else {
				list.Append(spoiled(f))
			}
		case f.Kind() == protoreflect.MessageKind:
			if depth > 0 && f.ContainingOneof() == nil {
				spoil(m.Mutable(f).Message(), depth-1)
			}
		default:
			m.Set(f, spoiled(f))
		}
	}
}

// spoiled returns a value of the field, which is no message.
func spoiled(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(hostile)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(hostile))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(1)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(1)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(1)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(1)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(1)
	}
	return f.Default()
}

// steers reports whether a text has a character that moves a cursor, hides or turns.
func steers(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u2066' || r == '\u200b'
	})
}

func TestNothingThatOthersWroteSteersTheTerminal(t *testing.T) {
	src, err := os.ReadFile("testdata/lifecycle.yaml")
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Load("lifecycle.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	var many []Event
	events := new(pb.Event).ProtoReflect().Descriptor().Oneofs().ByName("event").Fields()
	for i := range events.Len() {
		e := new(pb.Event)
		spoil(e.ProtoReflect().Mutable(events.Get(i)).Message(), 3)
		commit := &pb.Commit{Events: []*pb.Event{e}}
		many = append(many, Events(hostile, hostile, instance.Commit{Actor: hostile, Events: wire.ToEvents(commit)})...)
	}
	if len(many) < 20 {
		t.Fatalf("there are %d events", len(many))
	}
	summary := new(pb.Summary)
	spoil(summary.ProtoReflect(), 3)
	for name, change := range map[string]func(*pb.Instance){
		"closed": func(*pb.Instance) {}, "open": func(p *pb.Instance) { p.Closed = "" },
		"known state": func(p *pb.Instance) { p.Closed, p.State = "", def.Initial },
		"not paused":  func(p *pb.Instance) { p.Closed, p.Paused, p.State = "", false, def.Initial },
	} {
		p := new(pb.Instance)
		spoil(p.ProtoReflect(), 4)
		change(p)
		for screen, show := range map[string]func(*term.Env) error{
			"show":    func(env *term.Env) error { return Page(env, Of(p)) },
			"explain": func(env *term.Env) error { return Explain(env, def, Of(p)).Print(env, false) },
			"here":    func(env *term.Env) error { Here(env, Of(p)); return nil },
			"ls":      func(env *term.Env) error { return List(env, Summaries([]*pb.Summary{summary})) },
			"history": func(env *term.Env) error { return Table(env, many, true) },
			"watch": func(env *term.Env) error {
				for _, e := range many {
					Line(env, e, time.Second, true)
				}
				return nil
			},
		} {
			t.Run(screen+", "+name, func(t *testing.T) {
				env, out := blank()
				if err := show(env); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(out.String(), "title") {
					t.Errorf("the text is not there: %q", out.String())
				}
				for line := range strings.Lines(out.String()) {
					if steers(line) {
						t.Errorf("it says %q", line)
					}
				}
			})
		}
	}
}

// blank returns a terminal without colours, and what is on it.
func blank() (*term.Env, *strings.Builder) {
	out := new(strings.Builder)
	return &term.Env{Stdout: out, Terminal: true, Now: time.Now}, out
}
