package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// reopen starts the instance of an issue again if the issue was closed before and is open
// now. Once a closing: the command's id says which. It takes what a new issue takes, so
// that nobody has work done again and again by closing and opening.
func (p *poller) reopen(ctx context.Context, issue forge.Issue) error {
	closings, err := p.cursors.load(ctx, p.repo+"/closed")
	if err != nil {
		return err
	}
	at, closed := closings.Shut[issue.Number]
	if !closed || !issue.UpdatedAt.After(at) {
		return nil
	}
	name := Name(p.repo, issue.Number)
	in, err := p.client.Get(ctx, name)
	if no := (*instance.Refusal)(nil); errors.As(err, &no) || err == nil && in.GetClosed() == "" {
		return nil
	} else if err != nil {
		return err
	}
	if admitted, err := p.admit(ctx, issue); err != nil || admitted.refused != "" {
		if err == nil {
			p.refuse("reopening", issue.Author.Login, name+": "+admitted.refused)
		}
		return err
	}
	reply, err := p.client.Do(ctx, subject.Reopen, &pb.Command{
		Id: fmt.Sprintf("reopen/%s/%s", issue.NodeID, at.UTC().Format(time.RFC3339)), Instance: name,
		Action: &pb.Command_Reopen{Reopen: &pb.Reopen{Reason: fmt.Sprintf("issue #%d was opened again on the forge", issue.Number)}},
	})
	if err == nil && !reply.GetDuplicate() {
		p.log.Info("starts again, since the issue was opened again", "instance", name, "state", reply.GetInstance().GetState())
	}
	return p.dropRefusal(name, err)
}
