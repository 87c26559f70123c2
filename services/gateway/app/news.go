package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
)

// newest returns when each of some repositories has changed last.
type newest interface {
	LastChanged(ctx context.Context, repos []string) (map[string]time.Time, error)
}

// news is when the watched repositories have changed last, read for all of them at once.
type news struct {
	forge newest
	repos func() []string
	fresh time.Duration // how long an answer serves the polls of one round
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	at     time.Time
	answer map[string]time.Time
}

// lastChanged returns when the repository has changed last, false if the forge does not say.
func (n *news) lastChanged(ctx context.Context, repo string) (time.Time, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at := n.now(); n.at.IsZero() || at.Sub(n.at) >= n.fresh {
		answer, err := n.forge.LastChanged(forge.WithUrgency(ctx, forge.Background), n.repos())
		if err != nil {
			n.log.Debug("the news cannot be read in one request; each list is read", "error", err)
			answer = nil
		}
		n.at, n.answer = at, answer
	}
	changed, ok := n.answer[repo]
	return changed, ok
}

// sparing is a source that is polled only if the repository has changed, or did so
// just before the last poll: a forge shows some changes later than others.
type sparing struct {
	source
	news *news
	repo string

	changed time.Time // the newest change that a poll knew of
	first   time.Time // when the first poll knew of it
	settled bool      // a poll has come later than the overlap after that
}

func (s *sparing) poll(ctx context.Context) error {
	now := s.news.now()
	changed, ok := s.news.lastChanged(ctx, s.repo)
	if ok && s.settled && changed.Equal(s.changed) {
		return nil
	}
	s.settled = false
	if err := s.source.poll(ctx); err != nil || !ok {
		return err
	}
	if s.first.IsZero() || !changed.Equal(s.changed) {
		s.changed, s.first = changed, now
	}
	s.settled = now.Sub(s.first) > overlap
	return nil
}
