package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/forge"
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

// closedOutcome is what the variable outcome of an instance says that ended because its
// pull request was closed (story lifecycle, invalid).
const closedOutcome = "closed"

// reopen starts the instances again that ended because the pull request was closed, if it
// is open now. To open it again takes the permission to write, or to be its author. The
// command's id says which end it undoes.
func (p *pulls) reopen(ctx context.Context, number int) error {
	all, err := p.client.List(ctx, &pb.ListRequest{All: true})
	if err != nil {
		return err
	}
	open := false
	for _, line := range all {
		if line.GetClosed() != string(instance.Ended) {
			continue
		}
		id := line.GetInstance()
		in, err := p.client.Get(ctx, id)
		if err != nil {
			if err := p.dropRefusal(id, err); err != nil {
				return err
			}
			continue
		}
		vars := in.GetVars()
		if in.GetIssue().GetRepo() != p.repo || vars["prNumber"] != strconv.Itoa(number) || vars["outcome"] != closedOutcome ||
			!in.GetFailed() {
			continue
		}
		if !open { // read only if it matters
			now, err := p.forge.PullRequest(ctx, p.repo, number)
			if errors.Is(err, forge.ErrNotFound) || err == nil && now.State != "open" {
				return nil
			} else if err != nil {
				return err
			}
			open = true
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", id, in.GetSeq()))
		reply, err := p.client.Do(ctx, subject.Reopen, &pb.Command{
			Id: "reopen/pull/" + hex.EncodeToString(sum[:16]), Instance: id,
			Action: &pb.Command_Reopen{Reopen: &pb.Reopen{Reason: fmt.Sprintf("pull request #%d was opened again on the forge", number)}},
		})
		if err == nil {
			p.log.Info("starts again, since its pull request was opened again", "instance", id, "state", reply.GetInstance().GetState())
		}
		if err := p.dropRefusal(id, err); err != nil {
			return err
		}
	}
	return nil
}
