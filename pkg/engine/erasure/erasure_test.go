package erasure_test

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/erasure"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/wire/wiretest"
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

// No text of an event stays, whichever field it is in. What stays is listed: a new field has to be one or the other.
func TestNoTextOfAnErasedInstanceStays(t *testing.T) {
	for _, e := range wiretest.Events(t) {
		data, err := wire.Events("dev/a", []instance.Event{e})
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
		for _, name := range []string{`"body"`, `"title"`, `"summary"`, `"text"`, `"output"`, `"said"`} {
			text := protojson.Format(&body)
			for rest, found := strings.CutPrefix(text[strings.Index(text+name, name):], name); found; {
				value := strings.TrimLeft(rest, ": ")
				if !strings.HasPrefix(value, `"erased"`) {
					t.Errorf("%T: %s is %.40s", e, name, value)
				}
				at := strings.Index(rest, name)
				if at < 0 {
					break
				}
				rest = rest[at+len(name):]
			}
		}
	}
}
