package cli

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type atCommand struct {
	readingOne
	Seq  uint64    `name:"seq" env:"-" placeholder:"N" xor:"when" help:"After this commit of the log."`
	Time time.Time `name:"time" env:"-" placeholder:"TIME" xor:"when" format:"2006-01-02T15:04:05Z07:00" help:"At this time, such as 2026-11-20T09:00:00Z."`
}

// Run prints the instance as it was.
func (c atCommand) Run(ctx context.Context, env *term.Env) error {
	if c.Seq == 0 && c.Time.IsZero() {
		return service.Usagef("name the moment: --seq N, or --time such as %s", env.Now().UTC().Format(time.RFC3339))
	}
	return c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		q := &pb.HistoryRequest{Instance: c.ID, Until: c.Seq}
		if !c.Time.IsZero() {
			q.UntilTime = timestamppb.New(c.Time)
		}
		records, err := s.Past(ctx, q)
		if err != nil {
			return err
		}
		was := instance.Instance{ID: c.ID}
		for _, commit := range view.Commits(records) {
			if c.Seq > 0 && commit.Seq > c.Seq || c.Seq == 0 && commit.At.After(c.Time) {
				break
			}
			was = instance.Evolve(was, commit)
		}
		if !was.Exists() {
			if records, err = s.History(ctx, c.ID, 0); err != nil {
				return err
			}
			first := view.Commits(records)[0]
			return fmt.Errorf("%s was not there yet: commit %d opened it at %s", c.ID, first.Seq, first.At.UTC().Format(time.RFC3339))
		}
		at := *env
		moment := was.UpdatedAt // durations count up to then
		if !c.Time.IsZero() {
			moment = c.Time
		}
		at.Now = func() time.Time { return moment }
		return view.Page(&at, view.Of(wire.FullView(was)))
	})
}
