package wire

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/standing"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Explanation encodes an explanation, as of a time.
func Explanation(e standing.Explanation, now time.Time) *pb.ExplainReply {
	clock := standing.Clock{Now: now, Span: func(d time.Duration) string { return d.Round(time.Second).String() }}
	p := &pb.ExplainReply{Help: each(e.Help, helping), Next: e.Next, Refused: each(e.Refused, func(r standing.Refused) *pb.RefusedThing {
		return &pb.RefusedThing{Seq: r.Seq, At: stamp(r.At), Kind: r.Kind, Reason: r.Reason}
	})}
	for _, r := range e.Reasons {
		one := &pb.Reason{Kind: string(r.Kind), Sentence: r.Sentence(clock), Text: r.Text, Role: r.Role, Agent: r.Agent, Since: stamp(r.Since),
			Until: stamp(r.Until), Unblocks: r.Unblocks, Help: each(r.Help, helping), Questions: each(r.Questions, i32)}
		for _, o := range r.Others {
			one.Others = append(one.Others, o.Instance)
		}
		p.Reasons = append(p.Reasons, one)
	}
	for _, group := range []struct {
		name  string
		rules []standing.Rule
	}{{"always", e.Always}, {"result", e.Results}, {"signal", e.Signals}, {"gate", e.Gates}, {"limit", e.Limits}} {
		for _, r := range group.rules {
			values := map[string]string{}
			for name, value := range r.Values {
				values[name] = fmt.Sprint(value)
			}
			p.Rules = append(p.Rules, &pb.ReadRule{Group: group.name, Name: r.Name, When: r.When, To: r.To, Reason: r.Reason, Stays: r.Stays,
				Escalates: r.People, Holds: r.Holds, Fault: r.Fault, Values: values})
		}
	}
	return p
}

func helping(a standing.Action) *pb.HelpingCommand {
	return &pb.HelpingCommand{Verb: a.Verb, Args: a.Args}
}
