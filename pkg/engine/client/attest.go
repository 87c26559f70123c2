package client

import (
	"context"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Attest has the orchestrator sign a statement on a commit of the instance of a claim. The commit is given
// as git stores it. The envelope is DSSE, as JSON; object names the object that keeps it. For a person, who
// has no claim, only Holder.Instance is set, and no object is kept. A refusal is an *instance.Refusal: of code
// no_key if the orchestrator has no key.
func (c *Client) Attest(ctx context.Context, h Holder, commit []byte) (envelope []byte, object string, err error) {
	to, err := subject.API(subject.Attest)
	if h.Role != "" {
		to, err = subject.Agent(h.Role, subject.Attest)
	}
	if err != nil {
		return nil, "", err
	}
	reply := new(pb.AttestReply)
	err = c.request(ctx, &nats.Msg{Subject: to, Header: c.header}, c.alone, &pb.AttestRequest{
		Instance: h.Instance, Token: h.Token, Agent: h.Agent, Commit: commit}, reply)
	return reply.Envelope, reply.Object, refused(h.Instance, reply, err)
}
