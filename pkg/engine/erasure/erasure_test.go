package erasure_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/signalbox/signalbox/pkg/engine/erasure"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestAWishErasesWhatIsThePersons(t *testing.T) {
	report := instance.Issue{Repo: "octocat/hello", Title: "It breaks", Body: "when I ask", Author: "octocat"}
	for name, c := range map[string]struct {
		wish  erasure.Wish
		actor string
		event instance.Event
		want  instance.Event // nil: it stays as it is
	}{
		"the texts that the person wrote go": {erasure.Person("octocat"), "gateway", instance.Opened{State: "received", Issue: report},
			instance.Opened{State: "received", Issue: instance.Issue{Repo: "octocat/hello", Title: "erased", Body: "erased", Author: "erased"}}},
		"an answer of the person": {erasure.Person("Octocat"), "github:octocat", instance.Answered{Number: 1, Text: "yes", By: "github:octocat"},
			instance.Answered{Number: 1, Text: "erased", By: "github:erased"}},
		"a comment, and not the permission": {erasure.Person("octocat"), "github:octocat",
			instance.Signalled{Name: "commented", Actor: "github:octocat", Data: map[string]string{"body": "no", "permission": "write"}},
			instance.Signalled{Name: "commented", Actor: "github:erased", Data: map[string]string{"body": "erased", "permission": "write"}}},
		"the name goes out of texts of others": {erasure.Person("octocat"), "pm/a", instance.Noted{Author: "github:ann", Kind: "remark", Text: "@octocat octocat asks octocats"},
			instance.Noted{Author: "github:ann", Kind: "remark", Text: "@erased erased asks octocats"}},
		"texts of others stay":        {erasure.Person("octocat"), "pm/a", instance.Noted{Author: "github:ann", Kind: "remark", Text: "no name"}, nil},
		"structure stays":             {erasure.Person("received"), "pm/a", instance.Dispatched{State: "received", Owner: "received"}, nil},
		"a longer name stays":         {erasure.Person("octo"), "github:octocat", instance.Answered{Number: 1, Text: "octo-cat", By: "github:octocat"}, nil},
		"all texts of an instance go": {erasure.Instance("a/1"), "pm/a", instance.Noted{Author: "github:ann", Kind: "remark", Text: "no name"}, instance.Noted{Author: "github:ann", Kind: "remark", Text: "erased"}},
		"a section is JSON after it": {erasure.Instance("a/1"), "dev/a", instance.Handed{Head: "c1", Sections: map[string]string{"plan": `{"a":"b"}`}},
			instance.Handed{Head: "c1", Sections: map[string]string{"plan": "{}"}}},
		"the text of a story, and not its branch": {erasure.Instance("a/1"), "shepherd/a", instance.Remembered{Vars: map[string]string{"story": `{"title":"x"}`, "branch": "b"}},
			instance.Remembered{Vars: map[string]string{"story": "{}", "branch": "b"}}},
		"the name in a story": {erasure.Person("octocat"), "shepherd/a", instance.Remembered{Vars: map[string]string{"story": `{"title":"as octocat"}`, "branch": "octocat"}},
			instance.Remembered{Vars: map[string]string{"story": `{"title":"as erased"}`, "branch": "octocat"}}},
		"another instance stays": {erasure.Instance("a/2"), "pm/a", instance.Noted{Author: "github:ann", Kind: "remark", Text: "no name"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := wire.Events(c.actor, []instance.Event{c.event})
			if err != nil {
				t.Fatal(err)
			}
			left, changed, err := c.wish.Erase(eventstore.Commit{Seq: 1, Instance: "a/1", Data: data})
			if err != nil || changed != (c.want != nil) {
				t.Fatalf("changed is %v, %v", changed, err)
			}
			if c.want == nil {
				c.want = c.event
			}
			var body pb.Commit
			if err := proto.Unmarshal(left, &body); err != nil {
				t.Fatal(err)
			}
			if got := wire.ToEvents(&body)[0]; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			if again, changed, err := c.wish.Erase(eventstore.Commit{Seq: 1, Instance: "a/1", Data: left}); err != nil || changed || string(again) != string(left) {
				t.Errorf("the second time it changes more: %v, %v", changed, err)
			}
		})
	}
}

// structure lists the fields of events that stay when an instance is erased, by message: ids, names
// of states, roles, tests and files, hashes. The values of data, vars and policy are for programs.
// Names of people are erased by the wish that names them.
func structure() map[protoreflect.Name]string {
	return map[protoreflect.Name]string{
		"AcceptedTest":     "by name",
		"Answer":           "by",
		"Answered":         "by",
		"Artifact":         "name object sha256",
		"Asked":            "from to",
		"BothWays":         "aside changed",
		"BudgetRaised":     "by",
		"Bundle":           "head object role",
		"Claimed":          "agent lapsed program role",
		"Configuration":    "brains commit file hash labels notify policy problem protect",
		"DayBudget":        "role",
		"DayRaised":        "budget by",
		"Demo":             "command page",
		"DemoRun":          "commit ended no_picture",
		"Dispatched":       "owner state",
		"Escalated":        "agent",
		"Evidence":         "agent command commit data failed name role verdict",
		"Flake":            "name",
		"GateRefused":      "gate instead wanted",
		"Handed":           "bundle head",
		"Issue":            "admitted_by author permission repo",
		"Judgement":        "base change findings kind unproven waived",
		"Learning":         "ids instance path",
		"Limit":            "role state",
		"LinkEnded":        "instance state",
		"LoopDetected":     "states",
		"Migrated":         "definition from kind owner",
		"Moved":            "cites from kind owner rule to",
		"Noted":            "author kind",
		"Opened":           "after base bundle definition kind owner parent state vars workflow",
		"ParkedUntil":      "state waits_for",
		"ProposalRefused":  "from permitted proposed",
		"QuestionForm":     "kind",
		"Released":         "agent",
		"Remembered":       "vars",
		"RenamedTest":      "from to",
		"Reported":         "agent role state",
		"Resolved":         "by",
		"Result":           "base bundle data failure_signature head next status",
		"ShownTest":        "base by cause change name",
		"Signalled":        "actor name ref",
		"Spawned":          "instance state workflow",
		"Spend":            "brain",
		"StatementRefused": "agent name permitted role what",
		"TestNames":        "names",
		"TestTally":        "commit",
		"TimedOut":         "level state",
		"Woken":            "reason",
	}
}

// Each field of an event with a text is erased, or is structure. A new field has to be in erasure.go
// or in structure.
func TestNoTextOfAnErasedInstanceStays(t *testing.T) {
	keep := structure()
	types := new(pb.Event).ProtoReflect().Descriptor().Oneofs().ByName("event").Fields()
	stayed := map[protoreflect.Name]map[string]bool{}
	for i := range types.Len() {
		event := new(pb.Event)
		fill(event.ProtoReflect().Mutable(types.Get(i)).Message(), 0)
		data, err := proto.Marshal(&pb.Commit{Actor: "dev/a", Events: []*pb.Event{event}})
		if err != nil {
			t.Fatal(err)
		}
		left, _, err := erasure.Instance("a").Erase(eventstore.Commit{Seq: 1, Instance: "a", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		var body pb.Commit
		if err := proto.Unmarshal(left, &body); err != nil {
			t.Fatal(err)
		}
		err = protorange.Range(body.GetEvents()[0].ProtoReflect(), func(p protopath.Values) error {
			text, ok := p.Index(-1).Value.Interface().(string)
			if key := p.Index(-1).Step; !ok && key.Kind() == protopath.MapIndexStep { // of texts to messages
				text, ok = key.MapIndex().String(), true
			}
			if !ok || !strings.Contains(text, private) {
				return nil
			}
			field := p.Index(-1).Step
			if field.Kind() != protopath.FieldAccessStep {
				field = p.Index(-2).Step
			}
			f := field.FieldDescriptor()
			of := f.ContainingMessage().Name()
			if stayed[of] == nil {
				stayed[of] = map[string]bool{}
			}
			stayed[of][string(f.Name())] = true
			if !slices.Contains(strings.Fields(keep[of]), string(f.Name())) {
				t.Errorf("%s stays: list the field %s of %s in people or texts of erasure.go, or in structure here", p.Path, f.Name(), of)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for of, fields := range keep {
		for _, name := range strings.Fields(fields) {
			if !stayed[of][name] {
				t.Errorf("structure lists %s of %s, which does not stay", name, of)
			}
		}
	}
}

// private is in each text of a message that fill made.
const private = "private"

// fill sets each text of a message, and of those in it.
func fill(m protoreflect.Message, depth int) {
	if depth > 8 {
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		text := protoreflect.ValueOfString(private)
		switch {
		case f.IsMap() && f.MapValue().Kind() == protoreflect.StringKind:
			m.Mutable(f).Map().Set(text.MapKey(), text)
		case f.IsMap() && f.MapValue().Kind() == protoreflect.MessageKind:
			fill(m.Mutable(f).Map().Mutable(text.MapKey()).Message(), depth+1)
		case f.IsMap():
		case f.IsList() && f.Kind() == protoreflect.StringKind:
			m.Mutable(f).List().Append(text)
		case f.IsList() && f.Kind() == protoreflect.MessageKind:
			fill(m.Mutable(f).List().AppendMutable().Message(), depth+1)
		case f.IsList():
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, text)
		case f.Kind() == protoreflect.MessageKind:
			fill(m.Mutable(f).Message(), depth+1)
		}
	}
}
