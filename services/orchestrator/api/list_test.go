package api_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Pages have each instance once, in order, and say whether there are more.
func TestPagesOfAList(t *testing.T) {
	e := newEnv(t, nil)
	for n := range 7 {
		e.open(id(n))
	}
	for _, err := range []error{second(e.client.Cancel(t.Context(), id(2), "r")), second(e.client.Cancel(t.Context(), id(5), "r"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		q    *pb.ListRequest
		want []string
	}{
		"open ones":  {&pb.ListRequest{}, []string{id(0), id(1), id(3), id(4), id(6)}},
		"all":        {&pb.ListRequest{All: true}, []string{id(0), id(1), id(2), id(3), id(4), id(5), id(6)}},
		"a text":     {&pb.ListRequest{Text: "TITLE of acme/widgets/0003"}, []string{id(3)}},
		"no text":    {&pb.ListRequest{Text: "nothing"}, nil},
		"a label":    {&pb.ListRequest{Label: "bug"}, nil},
		"repository": {&pb.ListRequest{Repo: "acme/widgets", All: true, After: id(4)}, []string{id(5), id(6)}},
		"another":    {&pb.ListRequest{Repo: "acme/widget"}, nil},
	} {
		for limit := 1; limit <= 8; limit++ {
			var got []string
			for q, pages := proto.CloneOf(c.q), 0; ; pages++ {
				q.Limit = int32(limit)
				reply := new(pb.ListReply)
				e.proto("sb.api.list", q, reply)
				for _, line := range reply.GetInstances() {
					got = append(got, line.GetInstance())
				}
				if n := len(reply.GetInstances()); n > limit || n == 0 && pages > 0 {
					t.Errorf("%s: a page of %d, want at most %d", name, n, limit)
				}
				if q.After = reply.GetNext(); q.After == "" {
					break
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, %d a page: %v, want %v", name, limit, got, c.want)
			}
		}
	}
}

// BenchmarkList is the first page of 100 of 100,000 open instances, over a real server, for each filter of the
// board: of all, of a tenth, of ten, and of none.
func BenchmarkList(b *testing.B) {
	const instances = 100_000
	defs, err := workflow.Builtins()
	if err != nil {
		b.Fatal(err)
	}
	ctx, e, nc := serve(b, defs...)
	do := func(id string, n int, a instance.Action) {
		if _, err := e.Handle(ctx, instance.Command{ID: fmt.Sprintf("%s-%d", id, n), Instance: id, At: time.Now(), Actor: "operator:ann", Do: a}, "issue"); err != nil {
			b.Fatal(err)
		}
	}
	for n := range instances {
		id := fmt.Sprintf("acme/widgets-%d/%06d", n%20, n)
		do(id, 0, instance.Open{Base: "c0", Issue: instance.Issue{Title: fmt.Sprintf("The total of Order %d is wrong", n),
			Labels: []string{"bug"}, Number: n + 1}})
		if n%(instances/10) == 7 {
			do(id, 1, instance.Override{To: "waiting_for_human_input", Reason: "r"})
		}
	}
	for name, q := range map[string]*pb.ListRequest{
		"all": {}, "last": {After: "acme/widgets-9/099"}, "repo": {Repo: "acme/widgets-7"}, "workflow": {Workflow: "issue"}, "state-of-ten": {State: "waiting_for_human_input"},
		"state-of-none": {State: "implementing"}, "role": {Worker: "pm"}, "role-of-none": {Worker: "tester"}, "label": {Label: "bug"}, "label-of-none": {Label: "x"},
		"waiting": {Waiting: true}, "late": {Overdue: true}, "stuck": {Stuck: true}, "failing": {Failing: 1}, "unproven": {Unproven: true},
		"text": {Text: "order"}, "text-of-one": {Text: "order 99999 "}, "text-of-none": {Text: "nowhere"}, "closed": {All: true},
	} {
		b.Run(name, func(b *testing.B) {
			data, err := proto.Marshal(q)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				got, err := nc.RequestMsg(&nats.Msg{Subject: "sb.api.list", Header: nats.Header{"Content-Type": {"application/protobuf"}}, Data: data}, time.Minute)
				if err != nil {
					b.Fatal(err)
				}
				reply := new(pb.ListReply)
				if err := proto.Unmarshal(got.Data, reply); err != nil || reply.Refusal != nil {
					b.Fatal(err, reply.GetRefusal())
				}
			}
		})
	}
}
