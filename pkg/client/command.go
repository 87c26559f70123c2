package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Open opens an instance named name. id makes the command idempotent and may be empty.
func (c *Client) Open(ctx context.Context, id, workflow, name string, issue instance.Issue) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Open, &pb.Command{Id: id, Instance: name, Action: &pb.Command_Open{
		Open: &pb.Open{Workflow: workflow, Issue: wire.Issue(issue)}}})
}

// OpenWith is Open with all fields of an Open.
func (c *Client) OpenWith(ctx context.Context, id, name string, open *pb.Open) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Open, &pb.Command{Id: id, Instance: name, Action: &pb.Command_Open{Open: open}})
}

// Signal sends a named signal. ref identifies it at its source and makes the command idempotent.
func (c *Client) Signal(ctx context.Context, name, signal, ref, actor string, data map[string]string) (*pb.CommandReply, error) {
	return c.SignalWithEvidence(ctx, name, signal, ref, actor, data)
}

// SignalWithEvidence is Signal with evidence that guards may read.
func (c *Client) SignalWithEvidence(ctx context.Context, name, signal, ref, actor string, data map[string]string, evidence ...instance.Evidence) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Signal, &pb.Command{Id: ref, Instance: name, Actor: actor, Action: &pb.Command_Signal{
		Signal: &pb.Signal{Name: signal, Ref: ref, Data: data, Evidence: wire.Evidence(evidence)}}})
}

// Cancel closes the instance in its present state.
func (c *Client) Cancel(ctx context.Context, name, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Cancel, &pb.Command{Instance: name, Action: &pb.Command_Cancel{Cancel: &pb.Cancel{Reason: reason}}})
}

// Pause stops the dispatch of the instance's work.
func (c *Client) Pause(ctx context.Context, name, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Pause, &pb.Command{Instance: name, Action: &pb.Command_Pause{Pause: &pb.Pause{Reason: reason}}})
}

// Resume dispatches the work of a paused instance again.
func (c *Client) Resume(ctx context.Context, name, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Resume, &pb.Command{Instance: name, Action: &pb.Command_Resume{Resume: &pb.Resume{Reason: reason}}})
}

// Retry dispatches the owner's work again.
func (c *Client) Retry(ctx context.Context, name, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Retry, &pb.Command{Instance: name, Action: &pb.Command_Retry{Retry: &pb.Retry{Reason: reason}}})
}

// Override moves the instance to any state, whether its lifecycle permits the move or not.
func (c *Client) Override(ctx context.Context, name, to, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Override, &pb.Command{Instance: name, Action: &pb.Command_Override{Override: &pb.Override{To: to, Reason: reason}}})
}

// Note adds a note to the instance.
func (c *Client) Note(ctx context.Context, name, kind, text string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Note, &pb.Command{Instance: name, Action: &pb.Command_Note{Note: &pb.Note{Kind: kind, Text: text}}})
}

// Resolve resolves an escalation. Number 0 is the one that holds the instance.
func (c *Client) Resolve(ctx context.Context, name string, number int32, text string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Resolve, &pb.Command{Instance: name, Action: &pb.Command_Resolve{Resolve: &pb.Resolve{Number: number, Text: text}}})
}

// Migrate continues the instance under another definition of its lifecycle, named by content hash. An
// empty hash is the newest definition.
func (c *Client) Migrate(ctx context.Context, name, definition, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Migrate, &pb.Command{Instance: name, Action: &pb.Command_Migrate{Migrate: &pb.Migrate{Definition: definition, Reason: reason}}})
}

// End reports to the instance named name the end of one that it is linked to. id makes the command
// idempotent.
func (c *Client) End(ctx context.Context, id, name string, end *pb.End) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.End, &pb.Command{Id: id, Instance: name, Action: &pb.Command_End{End: end}})
}
