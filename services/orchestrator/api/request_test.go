package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestARequestIsAnsweredInItsOwnForm(t *testing.T) {
	e := newEnv(t, nil)
	e.open("a")
	asProto, err := proto.Marshal(&pb.GetRequest{Instance: "a"})
	if err != nil {
		t.Fatal(err)
	}
	asJSON := []byte(`{"instance":"a"}`)
	for _, c := range []struct {
		name, kind string
		data       []byte
		want       string
	}{
		{"JSON", "application/json", asJSON, "application/json"},
		{"JSON with a parameter", "application/json; charset=utf-8", asJSON, "application/json"},
		{"JSON with spaces first", "application/json", []byte("\n " + string(asJSON)), "application/json"},
		{"JSON that does not say so", "", asJSON, "application/json"},
		{"protobuf", "application/protobuf", asProto, "application/protobuf"},
		{"protobuf that does not say so", "", asProto, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := e.ask("sb.api.get", c.kind, c.data)
			if got.Header.Get("Content-Type") != c.want || got.Header.Get("Nats-Service-Error-Code") != "" {
				t.Fatalf("answered %v %.100q", got.Header, got.Data)
			}
			title := ""
			if c.want == "application/json" {
				var reply struct {
					Instance struct{ Issue struct{ Title string } }
				}
				err = json.Unmarshal(got.Data, &reply)
				title = reply.Instance.Issue.Title
			} else {
				var reply pb.GetReply
				err = proto.Unmarshal(got.Data, &reply)
				title = reply.GetInstance().GetIssue().GetTitle()
			}
			if err != nil || title != "title of a" {
				t.Errorf("the title is %q, %v", title, err)
			}
		})
	}
}

func TestWhatIsNoRequestIsAnsweredAndChangesNothing(t *testing.T) {
	e := newEnv(t, nil)
	e.open("a")
	large := `{"instance":"a","note":{"text":"` + strings.Repeat("x", 780<<10) + `"}}`
	for _, c := range []struct{ name, subject, kind, data, says string }{
		{"JSON that ends early", "sb.api.note", "application/json", `{"instance":"a","note":{`, "not a Command"},
		{"an empty command", "sb.api.note", "application/json", ``, "the message holds"},
		{"noise as JSON", "sb.api.get", "application/json", "\xff\xfe", "not a GetRequest"},
		{"noise as protobuf", "sb.api.note", "application/protobuf", "\xff\xff\xff", "not a Command"},
		{"a field there is not", "sb.api.list", "application/json", `{"stat":"received"}`, "stat"},
		{"a number that is none", "sb.api.history", "application/json", `{"instance":"a","after":"yesterday"}`, "after"},
		{"a form there is not", "sb.api.note", "text/yaml", `instance: a`, "application/json"},
		{"a Content-Type that is none", "sb.api.note", "/;", `{"instance":"a","note":{"text":"x"}}`, "application/json"},
		{"too much", "sb.api.note", "application/json", large, "at most 786432 bytes"},
		{"too much that does not say what it is", "sb.api.note", "", large, "at most"},
		{"another's command", "sb.api.pause", "application/json", `{"instance":"a","note":{"text":"x"}}`, `takes a "pause"`},
		{"no instance", "sb.api.pause", "application/json", `{"pause":{}}`, "instance"},
		{"no instance to get", "sb.api.get", "application/json", `{}`, "instance"},
		{"an id that is none", "sb.api.history", "application/json", `{"instance":"` + strings.Repeat("x", 201) + `"}`, "1 to 200"},
		{"a command id that is none", "sb.api.note", "application/json", `{"id":"a b","instance":"a","note":{"text":"x"}}`, "id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e.unchanged(func() {
				got := e.ask(c.subject, c.kind, []byte(c.data))
				if code := got.Header.Get("Nats-Service-Error-Code"); code != "400" {
					t.Errorf("answered %v %.200q", got.Header, got.Data)
				}
				says := got.Header.Get("Nats-Service-Error")
				if c.kind != "application/protobuf" && strings.HasPrefix(c.data, "{") || c.kind == "application/json" {
					var reply struct {
						Refusal struct{ Code, Message string }
					}
					if err := json.Unmarshal(got.Data, &reply); err != nil || reply.Refusal.Code != "invalid" || reply.Refusal.Message == "" {
						t.Errorf("the body is %.200q, %v", got.Data, err)
					}
				}
				if !strings.Contains(says, c.says) {
					t.Errorf("it says %.200q, want a word of %q", says, c.says)
				}
			})
		})
	}
}

func TestARefusedQueryIsAnsweredAsThatQuery(t *testing.T) {
	e := newEnv(t, nil)
	noise := []byte("\xff\xff\xff")
	for subject, reply := range map[string]interface {
		proto.Message
		GetRefusal() *pb.Refusal
	}{
		"sb.api.get": new(pb.GetReply), "sb.api.list": new(pb.ListReply), "sb.api.history": new(pb.HistoryReply),
		"sb.api.definition": new(pb.DefinitionReply), "sb.api.note": new(pb.CommandReply), "sb.api.agent.pm.claim": new(pb.CommandReply),
	} {
		got := e.ask(subject, "application/protobuf", noise)
		if err := proto.Unmarshal(got.Data, reply); err != nil || reply.GetRefusal().GetCode() != "invalid" {
			t.Errorf("%s answers %v, %v", subject, reply, err)
		}
	}
	for subject, q := range map[string]proto.Message{
		"sb.api.get": &pb.GetRequest{Instance: "nobody"}, "sb.api.history": &pb.HistoryRequest{Instance: "nobody"},
		"sb.api.definition": &pb.DefinitionRequest{Name: "nothing"},
	} {
		got := e.proto(subject, q, &pb.Refusal{})
		if code := got.Header.Get("Nats-Service-Error-Code"); code != "404" {
			t.Errorf("%s of what is not there answers %v", subject, got.Header)
		}
	}
}

func TestALongRefusalIsStillAnswered(t *testing.T) {
	e := newEnv(t, nil)
	e.open("a")
	reply := e.json("sb.api.override",
		map[string]any{"instance": "a", "override": map[string]any{"to": strings.Repeat("x", 700<<10), "reason": "r"}})
	no, _ := reply["refusal"].(map[string]any)
	if no["code"] != "invalid" || len(no["message"].(string)) > 4<<10 || no["allowed"] == nil {
		t.Errorf("answered %.300v", reply)
	}
}

func TestAHeldClaimSaysUntilWhen(t *testing.T) {
	e := newEnv(t, nil)
	work := e.open("a").GetInstance().GetWork()
	claim := func(agent string) *pb.CommandReply {
		reply := new(pb.CommandReply)
		e.proto("sb.api.agent.pm.claim", &pb.Command{Instance: "a", Action: &pb.Command_Claim{
			Claim: &pb.Claim{Agent: agent, Work: work, LeaseMs: 60_000}}}, reply)
		return reply
	}
	first := claim("pm-1")
	second := claim("pm-2")
	if first.GetRefusal() != nil || second.GetRefusal().GetCode() != string(instance.CodeHeld) ||
		!second.GetLease().AsTime().Equal(first.GetLease().AsTime()) || second.GetInstance() != nil || first.GetLeaseLeft() != nil {
		t.Errorf("the first was answered %v, the second %v", first, second)
	}
	if left := second.GetLeaseLeft().AsDuration(); left <= 0 || left > time.Minute {
		t.Errorf("of a minute there is left %v", left)
	}
}

func TestAnAgentIsWhatItsSubjectSays(t *testing.T) {
	e := newEnv(t, nil)
	work := e.open("a").GetInstance().GetWork()
	e.json("sb.api.agent.pm.claim",
		map[string]any{"instance": "a", "actor": "operator:root", "claim": map[string]any{"agent": "p", "work": work, "lease_ms": 60000}})
	e.json("sb.api.note", map[string]any{"instance": "a", "note": map[string]any{"text": "x"}})
	records, err := e.client.History(t.Context(), "a", 0)
	if err != nil || len(records) != 3 {
		t.Fatalf("the history is %v, %v", records, err)
	}
	for i, want := range []string{"operator:test", "pm/operator:root", "operator"} {
		if got := records[i].GetCommit().GetActor(); got != want {
			t.Errorf("commit %d is by %q, want %q", i+1, got, want)
		}
	}
}

func TestATraceparentReachesTheLog(t *testing.T) {
	e := newEnv(t, nil)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for i, given := range []string{parent, "nonsense with spaces", ""} {
		header := nats.Header{"Content-Type": {"application/json"}, "traceparent": {given}}
		body := `{"instance":"` + id(i) + `","open":{"workflow":"issue","issue":{"title":"t"}}}`
		if _, err := e.nc.RequestMsg(&nats.Msg{Subject: "sb.api.open", Header: header, Data: []byte(body)}, time.Minute); err != nil {
			t.Fatal(err)
		}
		c, err := e.store.Last(t.Context(), id(i))
		if want := map[bool]string{true: parent}[given == parent]; err != nil || c.Trace != want {
			t.Errorf("under %q the commit carries %q, %v", given, c.Trace, err)
		}
	}
}

// slow is a store whose appends wait.
type slow struct {
	eventstore.Store
	entered chan struct{}
	leave   chan struct{}
}

func (s *slow) Append(ctx context.Context, c eventstore.Commit) (uint64, error) {
	s.entered <- struct{}{}
	<-s.leave
	return s.Store.Append(ctx, c)
}

func TestClosingAnswersWhatIsUnderWay(t *testing.T) {
	store := &slow{memory.New(), make(chan struct{}, 1), make(chan struct{})}
	e := newEnv(t, store)
	answered := make(chan *nats.Msg, 1)
	go func() {
		got, err := e.nc.Request("sb.api.open", []byte(`{"instance":"a","open":{"workflow":"issue","issue":{"title":"t"}}}`), time.Minute)
		if err != nil {
			t.Error(err)
		}
		answered <- got
	}()
	select {
	case <-store.entered:
	case got := <-answered:
		t.Fatalf("answered %v before it was stored", got)
	}
	closed := make(chan error, 1)
	go func() { closed <- e.server.Close() }()
	close(store.leave)
	if got := <-answered; got == nil || !bytes.Contains(got.Data, []byte(`"received"`)) {
		t.Errorf("answered %v", got)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if got, err := e.nc.Request("sb.api.get", []byte(`{"instance":"a"}`), time.Minute); err == nil &&
		got.Header.Get("Nats-Service-Error-Code") != "503" {
		t.Errorf("after it was closed it answers %v %s", got.Header, got.Data)
	}
}
