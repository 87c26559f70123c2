package agent_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestHeldWorkIsAskedForAgainWhenItMayBeFree(t *testing.T) {
	w, filter := newQueueEnv(t, "issue", "received", 40*time.Second)
	said, err := w.js.Conn().SubscribeSync("$JS.ACK.EVENTS.pm.>")
	if err == nil {
		err = w.js.Conn().Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	w.answers("pm", func(cmd *pb.Command) *pb.CommandReply {
		no := &pb.CommandReply{Refusal: &pb.Refusal{Code: string(instance.CodeHeld)}}
		switch cmd.GetInstance() {
		case "soon":
			no.LeaseLeft = durationpb.New(1234 * time.Millisecond)
		case "late":
			no.LeaseLeft = durationpb.New(time.Hour)
		case "now":
			no.LeaseLeft = durationpb.New(0)
		}
		return no
	})
	w.agent("a1", works(succeed))
	for _, c := range []struct {
		id   string
		want time.Duration
	}{
		{"soon", 1244 * time.Millisecond},
		{"late", 40 * time.Second},
		{"now", 10 * time.Millisecond},
		{"unsaid", 10 * time.Second},
	} {
		ack, err := w.js.Publish(w.ctx, strings.Replace(filter, "*", c.id, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, want := "", fmt.Sprintf(`-NAK {"delay": %d}`, c.want)
		for of := uint64(0); of != ack.Sequence; { // others come again
			msg, err := said.NextMsgWithContext(w.ctx)
			if err != nil {
				t.Fatal(err)
			}
			got = string(msg.Data)
			if of, err = strconv.ParseUint(strings.Split(msg.Subject, ".")[5], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Errorf("%s: it says %q, want %q", c.id, got, want)
		}
	}
}

func TestWorkOfAnAgentThatIsKilledBeginsAnewWhenItsLeaseEnds(t *testing.T) {
	const lease = 2 * time.Second
	w := newEnv(t, lease)
	begun := make(chan time.Time, 10)
	begins := func(ctx context.Context, _ agent.Job) (instance.Result, error) {
		begun <- time.Now()
		<-ctx.Done()
		return instance.Result{}, ctx.Err()
	}
	killed := w.agent("killed", works(begins))
	w.open("a")
	next(w, begun)
	w.agent("heir", works(func(context.Context, agent.Job) (instance.Result, error) {
		begun <- time.Now()
		return success(), nil
	}))
	at := time.Now()
	killed.nc.Close() // it can say nothing any more
	t.Logf("it began again %v after the lease", next(w, begun).Sub(at)-lease)
	all := w.until("a", moved)
	if c := of[instance.Claimed](all); len(c) < 2 || c[1].Agent != "heir" || c[1].Lapsed != "killed" {
		t.Errorf("there came %q", names(all))
	}
}
