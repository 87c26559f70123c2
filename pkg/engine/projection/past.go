package projection

import (
	"context"
	"errors"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// maxGathered is how many commits Past gets at once. Of a longer past, one reader that begins at the first is faster.
const maxGathered = 1000

// Past returns all commits of an instance, oldest first. Of a live instance it knows the sequences, so it need not
// walk from each commit to the one before.
func (p *Projection) Past(ctx context.Context, id string) ([]eventstore.Commit, error) {
	s, ok := p.states.share(id)
	if !ok || s.commands.Len() == 0 || s.commands.Len() > maxGathered {
		return p.store.Load(ctx, id)
	}
	commits, err := p.store.Gather(ctx, id, s.seqs())
	if errors.Is(err, eventstore.ErrCorrupt) { // or a past of more than four billion commits: see fullSeq
		return p.store.Load(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	newer, err := p.store.Since(ctx, id, s.Instance.Seq)
	if err != nil {
		return nil, err
	}
	commits = append(commits, newer...)
	return commits, eventstore.VerifyChain(commits)
}

// seqs returns the sequences of the instance's commits.
func (s *State) seqs() []uint64 {
	seqs := make([]uint64, 0, s.commands.Len())
	for some := range s.commands.Blocks() {
		for _, c := range some {
			seqs = append(seqs, fullSeq(c.seq, s.Instance.Seq))
		}
	}
	return slices.Clip(seqs)
}
