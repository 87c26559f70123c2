package app

import (
	"context"
	"errors"
	"log/slog"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// send sends the commands that follow from a change. It returns the replies of those that are not
// refused.
func send(ctx context.Context, to *client.Client, log *slog.Logger, seen change.Seen) (replies []*pb.CommandReply, err error) {
	for _, c := range seen.Commands() {
		reply, err := to.Do(ctx, c.Name, c.Command)
		if err == nil {
			replies = append(replies, reply)
		}
		if err := dropRefusal(log, c.GetInstance(), err); err != nil {
			return replies, err
		}
	}
	return replies, nil
}

// dropRefusal logs and drops a refusal that a repetition would not change.
func dropRefusal(log *slog.Logger, name string, err error) error {
	if errors.As(err, new(*instance.Refusal)) {
		log.Warn("refused", "instance", name, "error", err)
		return nil
	}
	return err
}

// find returns an instance, nil if there is none.
func find(ctx context.Context, in *client.Client, name string) (*pb.Instance, error) {
	got, err := in.Get(ctx, name)
	if errors.As(err, new(*instance.Refusal)) {
		return nil, nil
	}
	return got, err
}
