package api

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/tally"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

const (
	// maxTallying bounds how long one request reads the log. The next one goes on from there.
	maxTallying = 2 * time.Second
	maxSums     = 1000
)

// readTally is the tally of the log as far as it was read. It reads nothing before the first request for costs.
type readTally struct {
	turn chan struct{} // has a value while nobody uses the rest
	sums *tally.Tally
	seq  uint64
}

func newReadTally() readTally {
	t := readTally{turn: make(chan struct{}, 1), sums: tally.New()}
	t.turn <- struct{}{}
	return t
}

func (s *Server) costs(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.CostsRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	keep, err := keeping(q)
	if err != nil {
		return nil, invalid("%v", err)
	}
	select {
	case <-s.tally.turn:
	case <-ctx.Done():
		return nil, refusal(ctx.Err())
	}
	defer func() { s.tally.turn <- struct{}{} }()
	reading, err := s.tally.readOn(ctx, s.Store)
	if err != nil {
		return nil, refusal(err)
	}
	reply := &pb.CostsReply{Seq: s.tally.seq, Reading: reading, Sums: costSums(s.tally.sums.By(keep))}
	if len(reply.Sums) > maxSums {
		return nil, invalid("there are %d sums, want at most %d: name a lifecycle, a later day, or fewer things to sum by", len(reply.Sums), maxSums)
	}
	return reply, nil
}

// readOn reads the log on to its end, or as far as there is time. reading reports that there is more.
func (t *readTally) readOn(ctx context.Context, store eventstore.Store) (reading bool, err error) {
	head, err := store.Head(ctx)
	if err != nil || head <= t.seq {
		return false, err
	}
	limited, stop := context.WithTimeout(ctx, maxTallying)
	defer stop()
	err = store.Read(limited, t.seq+1, func(c eventstore.Commit) error {
		if c.Foreign == nil {
			commit, err := wire.ToCommit(c)
			if err != nil {
				return err
			}
			t.sums.Add(c.Instance, c.Workflow, strings.TrimPrefix(c.State, "@"), commit)
		}
		if t.seq = c.Seq; t.seq >= head {
			return errPageFull
		}
		return limited.Err()
	}, nil)
	switch {
	case errors.Is(err, errPageFull):
		return false, nil
	case limited.Err() != nil:
		return true, nil
	}
	return false, err
}

// keeping returns the function that leaves of each key what q sums by.
func keeping(q *pb.CostsRequest) (func(tally.Key) (tally.Key, bool), error) {
	if day := q.GetSince(); day != "" {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return nil, errors.New("since is no day, want one such as 2026-01-31")
		}
	}
	fields := map[string]func(of, to *tally.Key){
		"workflow": func(of, to *tally.Key) { to.Workflow = of.Workflow },
		"repo":     func(of, to *tally.Key) { to.Repo = of.Repo },
		"role":     func(of, to *tally.Key) { to.Role = of.Role },
		"brain":    func(of, to *tally.Key) { to.Brain = of.Brain },
		"state":    func(of, to *tally.Key) { to.State = of.State },
		"day":      func(of, to *tally.Key) { to.Day = of.Day },
	}
	for _, by := range q.GetBy() {
		if fields[by] == nil {
			return nil, errors.New("by is not known, want workflow, repo, role, brain, state or day")
		}
	}
	return func(k tally.Key) (short tally.Key, ok bool) {
		for _, by := range q.GetBy() {
			fields[by](&k, &short)
		}
		return short, (q.GetWorkflow() == "" || q.GetWorkflow() == k.Workflow) && k.Day >= q.GetSince()
	}, nil
}

// costSums encodes sums, the dearest first.
func costSums(sums map[tally.Key]*tally.Sum) (all []*pb.CostSum) {
	for k, s := range sums {
		all = append(all, &pb.CostSum{
			Workflow: k.Workflow, Repo: k.Repo, Role: k.Role, Brain: k.Brain, State: k.State, Day: k.Day, Steps: s.Steps, Succeeded: s.Succeeded,
			Failed: s.Failed, Unmetered: s.Unmetered, TokensIn: s.TokensIn, TokensOut: s.TokensOut, Usd: s.USD, WallMs: s.WallMS,
			MedianMs: s.Median().Milliseconds(),
		})
	}
	slices.SortFunc(all, func(a, b *pb.CostSum) int {
		return cmp.Or(cmp.Compare(b.Usd, a.Usd), cmp.Compare(b.TokensIn+b.TokensOut, a.TokensIn+a.TokensOut), strings.Compare(a.Day, b.Day),
			strings.Compare(a.Repo, b.Repo), strings.Compare(a.Workflow, b.Workflow), strings.Compare(a.Role, b.Role), strings.Compare(a.State, b.State),
			strings.Compare(a.Brain, b.Brain))
	})
	return all
}
