package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// input is one command or query.
type input struct {
	ID, Kind, Instance, Role, Agent, Status string
	Work                                    uint64
	Token                                   uint32
}

func (in input) String() string {
	s := in.Kind
	switch in.Kind {
	case "claim":
		s += fmt.Sprintf(" of work %d by %s/%s", in.Work, in.Role, in.Agent)
	case "heartbeat", "release", "fail":
		s += fmt.Sprintf(" under token %d", in.Token)
	case "report":
		s += fmt.Sprintf(" %s under token %d", in.Status, in.Token)
	}
	return s + " (" + in.ID + ")"
}

// output is one reply.
type output struct {
	Code         string // of the refusal; empty: it was accepted
	Seq          uint64
	NewToken     uint32         // fencing token of a claim; 0: none
	Observed     *observedState // state after the command or of a get; nil: not in the reply
	WithoutClaim bool           // Observed has no claim, as in replies to agents
}

func (o output) String() string {
	switch {
	case o.Code != "":
		return o.Code
	case o.Observed != nil:
		return fmt.Sprintf("commit %d: %+v", o.Seq, *o.Observed)
	}
	return fmt.Sprintf("commit %d", o.Seq)
}

// attempt is one message to the API and its reply.
type attempt struct {
	input
	from, to  time.Duration // since the run started
	answered  bool          // if not, it may be carried out at any time
	duplicate bool          // the command was carried out before; Observed is the current state
	output
}

// message returns the subject and the message.
func (in input) message() (string, proto.Message) {
	api := func(to string, err error) string {
		if err != nil {
			panic(err)
		}
		return to
	}
	if in.Kind == "get" {
		return api(subject.API(subject.Get)), &pb.GetRequest{Instance: in.Instance}
	}
	const hour = 3600 * 1000
	c := &pb.Command{Id: in.ID, Instance: in.Instance}
	to := api(subject.API(in.Kind))
	if in.Role != "" {
		to = api(subject.Agent(in.Role, in.Kind))
	}
	switch in.Kind {
	case "open":
		c.Action = &pb.Command_Open{Open: &pb.Open{Workflow: "relay", Issue: &pb.Issue{Title: "a lap"}}}
	case "claim":
		c.Action = &pb.Command_Claim{Claim: &pb.Claim{Agent: in.Agent, Work: in.Work, LeaseMs: hour}}
	case "heartbeat":
		c.Action = &pb.Command_Heartbeat{Heartbeat: &pb.Heartbeat{Token: in.Token, LeaseMs: hour}}
	case "report":
		c.Action = &pb.Command_Report{Report: &pb.Report{Token: in.Token, Result: &pb.Result{Status: in.Status}}}
	case "release":
		c.Action = &pb.Command_Release{Release: &pb.Release{Token: in.Token}}
	case "fail":
		c.Action = &pb.Command_Fail{Fail: &pb.Fail{Token: in.Token}}
	case "pause":
		c.Action = &pb.Command_Pause{Pause: &pb.Pause{}}
	case "resume":
		c.Action = &pb.Command_Resume{Resume: &pb.Resume{}}
	case "signal":
		c.Action = &pb.Command_Signal{Signal: &pb.Signal{Name: "go"}}
	case "cancel":
		c.Action = &pb.Command_Cancel{Cancel: &pb.Cancel{}}
	case "note":
		c.Action = &pb.Command_Note{Note: &pb.Note{Text: in.ID}}
	}
	return to, c
}

// send sends the message once and waits a second for the reply.
func (in input) send(ctx context.Context, nc *nats.Conn, began time.Time) attempt {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	to, m := in.message()
	data, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	s := attempt{input: in, from: time.Since(began)}
	var got *nats.Msg
	for { // without responders nothing is carried out
		got, err = nc.RequestMsgWithContext(ctx,
			&nats.Msg{Subject: to, Data: data, Header: nats.Header{"Content-Type": {"application/protobuf"}}})
		if !errors.Is(err, nats.ErrNoResponders) || ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	s.to = time.Since(began)
	if err != nil {
		return s
	}
	var seen *pb.Instance
	var no *pb.Refusal
	if in.Kind == "get" {
		r := new(pb.GetReply)
		err = proto.Unmarshal(got.Data, r)
		seen, no = r.GetInstance(), r.GetRefusal()
	} else {
		r := new(pb.CommandReply)
		err = proto.Unmarshal(got.Data, r)
		seen, no = r.GetInstance(), r.GetRefusal()
		s.duplicate, s.Seq, s.NewToken = r.GetDuplicate(), r.GetSeq(), r.GetToken()
	}
	if err != nil || no.GetCode() == "unavailable" {
		return s
	}
	s.answered, s.Code = true, no.GetCode()
	s.WithoutClaim = in.Role != "" && in.Kind != "claim"
	if seen != nil {
		s.Observed = &observedState{
			State: seen.GetState(), Paused: seen.GetPaused(), Closed: seen.GetClosed(), Seq: seen.GetSeq(), Work: seen.GetWork(),
			Token: seen.GetClaim().GetToken(), Agent: seen.GetClaim().GetAgent(), Moves: seen.GetIteration(),
		}
	}
	return s
}
