package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

const (
	listedEvery = time.Minute // the lists of repositories are read no more often by themselves
	namedEvery  = time.Hour   // a repository that no list has is asked for no more often by itself
	askGap      = time.Second // between two readings that were asked for
)

// watched is the set of repositories that are watched. It follows the forge: what is added
// is watched from then on; what is removed or archived rests until it is back.
type watched struct {
	forge  forge.Lister
	list   forgeside.Repositories
	client *client.Client
	kv     jetstream.KeyValue
	fault  func() error  // of the forge, by its newest answer
	every  time.Duration // how often the forge is asked by itself
	now    func() time.Time
	log    *slog.Logger
	count  *prometheus.GaugeVec // of the repositories by state; nil: none
	// build returns all that watches a repository, and what of it is polled.
	build func(repo string) (repository, []source)
	// run polls a source until ctx ends.
	run func(context.Context, source)

	asked    chan struct{}        // has one if a reading was asked for
	pressing bool                 // the next reading asks for all
	named    map[string]time.Time // when a name was asked for last
	warned   map[string]bool

	mu sync.Mutex
	on map[string]*running // by name in lower case
}

// running is a repository that is polled.
type running struct {
	repository
	place place
	stop  context.CancelFunc
	polls sync.WaitGroup
}

// lookUp returns what watches the repository, by the name that it has on the forge or by the
// one that its instances have. It is not found while nothing is done in it.
func (w *watched) lookUp(repo string) (repository, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := w.on[strings.ToLower(repo)]; ok {
		return r.repository, true
	}
	for _, r := range w.on {
		if strings.EqualFold(r.place.Now, repo) {
			return r.repository, true
		}
	}
	return repository{}, false
}

// names returns the names of what is polled, sorted.
func (w *watched) names() (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.on {
		names = append(names, r.place.Name)
	}
	slices.Sort(names)
	return names
}

// ask has the forge asked at once which repositories there are. It does not wait, and any
// goroutine may call it.
func (w *watched) ask() {
	select {
	case w.asked <- struct{}{}:
	default: // it was asked for already
	}
}

// work watches the repositories until ctx ends.
func (w *watched) work(ctx context.Context) error {
	defer w.stopAll()
	slow := pacing.Backoff(time.Second, max(w.every, time.Minute))
	if err := w.resume(ctx); err != nil && ctx.Err() == nil {
		w.log.Warn("the list of watched issues cannot be read", "error", err)
	}
	for {
		began, wait := w.now(), w.every
		err := w.poll(ctx)
		limit := new(forge.RateLimit)
		switch {
		case err == nil:
			slow.Reset()
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &limit):
			wait = max(time.Until(limit.Until), time.Second)
		default:
			wait = slow.NextBackOff()
		}
		if err != nil {
			w.log.Warn("which repositories there are cannot be read; those that are known are watched", "error", err, "again_in", wait.Round(time.Millisecond))
		} else if w.pressing {
			wait = min(wait, time.Minute) // a list may show late what a delivery reported
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
			w.pressing = false
		case <-w.asked:
			if w.pressing = true; pacing.Pause(ctx, askGap-w.now().Sub(began)) != nil {
				return nil
			}
		}
	}
}

// resume watches what was watched when the gateway ended, and what is named.
func (w *watched) resume(ctx context.Context) error {
	kept, _, err := w.places(ctx)
	next, _ := settle(w.list, kept, forgeside.Resolved{})
	w.apply(ctx, next)
	return err
}

// poll asks the forge which repositories there are, and follows. If part of that fails, the
// next poll does it again.
func (w *watched) poll(ctx context.Context) error {
	ctx = forge.WithUrgency(ctx, forge.Background)
	got, err := w.list.Resolve(ctx, w.forge, w.isDue)
	if err != nil {
		return err
	}
	for name, why := range got.Unknown {
		w.warn("the forge does not say whether a repository is there", "repo", name, "error", why)
	}
	for name, why := range got.Missing {
		w.warn("a repository is not there", "repo", name, "error", why)
	}
	kept, revision, err := w.places(ctx)
	if err != nil {
		return err
	}
	for _, name := range doubted(w.list, kept, got) {
		one, err := w.forge.Named(ctx, name)
		switch {
		case err == nil:
			got.Named[name] = one
		case errors.Is(err, forge.ErrNotFound):
			got.Missing[name] = err
		default:
			return fmt.Errorf("where the old name of a repository leads: %w", err)
		}
	}
	next, warnings := settle(w.list, kept, got)
	for _, text := range warnings {
		w.warn(text)
	}
	// The reason is kept before the first instance is paused with it, and until the last is
	// resumed: whatever the gateway dies in is done again.
	if err := w.keepPlaces(ctx, kept, stay(kept, next), revision); err != nil {
		return err
	}
	if kept, revision, err = w.places(ctx); err != nil {
		return err
	}
	var failed error
	for i, p := range next {
		was := before(kept, p)
		if leaves, returns := p.Away != "" && !p.Rest, was.Away != "" && p.Away == ""; !p.belongs(w.list) || !leaves && !returns {
			continue
		}
		if err := w.turn(ctx, was, p); err != nil {
			failed = errors.Join(failed, err)
			next[i] = was
			continue
		}
		next[i].Rest = p.Away != ""
	}
	w.apply(ctx, next)
	return errors.Join(failed, w.keepPlaces(ctx, kept, next, revision))
}

// stay returns the places with those that are back still away.
func stay(kept, next []place) []place {
	all := slices.Clone(next)
	for i, p := range all {
		if was := before(kept, p); was.Away != "" && p.Away == "" {
			all[i] = was
		}
	}
	return all
}

// before returns the place as it was, empty if it was not there.
func before(places []place, p place) (was place) {
	if i := slices.IndexFunc(places, func(o place) bool { return o.Name == p.Name }); i >= 0 {
		was = places[i]
	}
	return was
}

// isDue reports whether the forge is asked for a repository by its name now.
func (w *watched) isDue(name string) bool {
	w.mu.Lock()
	_, on := w.on[strings.ToLower(name)]
	w.mu.Unlock()
	if at := w.named[name]; on && !w.pressing && w.now().Sub(at) < namedEvery {
		return false
	}
	if w.named == nil {
		w.named = map[string]time.Time{}
	}
	w.named[name] = w.now()
	return true
}

// turn has a repository rest, or ends that: its instances are paused with the reason, or
// those are resumed that were. Instances that people paused stay paused.
func (w *watched) turn(ctx context.Context, was, is place) error {
	if is.Away != "" {
		w.halt(is.Name)
	}
	open, err := w.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return err
	}
	changed := 0
	for _, line := range open {
		if line.GetPaused() != (is.Away == "") {
			continue
		}
		in, err := w.client.Get(ctx, line.GetInstance())
		if err == nil && strings.EqualFold(in.GetIssue().GetRepo(), is.Name) {
			switch {
			case is.Away != "":
				_, err = w.client.Pause(ctx, line.GetInstance(), is.Away)
				changed++
			case in.GetReason() == was.Away:
				_, err = w.client.Resume(ctx, line.GetInstance(), is.Name+" is back on the forge")
				changed++
			}
		}
		if err != nil && !errors.As(err, new(*instance.Refusal)) { // closed or paused meanwhile
			return err
		}
	}
	if is.Away != "" {
		w.log.Warn("nothing is done in the repository", "repo", is.Name, "why", is.Away, "paused", changed)
	} else {
		w.log.Info("the repository is back", "repo", is.Name, "resumed", changed)
	}
	return nil
}

// apply polls what is not away, and nothing else.
func (w *watched) apply(ctx context.Context, places []place) {
	wanted, away := map[string]bool{}, 0
	for _, p := range places {
		if !p.belongs(w.list) {
			continue
		}
		if p.Away != "" {
			away++
			continue
		}
		wanted[strings.ToLower(p.Name)] = true
		w.start(ctx, p)
	}
	for _, name := range w.names() {
		if !wanted[strings.ToLower(name)] {
			w.halt(name)
		}
	}
	if w.count != nil {
		w.count.WithLabelValues("watched").Set(float64(len(wanted)))
		w.count.WithLabelValues("away").Set(float64(away))
	}
}

// start polls a repository, unless it is polled.
func (w *watched) start(ctx context.Context, p place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := strings.ToLower(p.Name)
	if r, ok := w.on[key]; ok {
		if r.place.Now != p.Now && p.Now != "" {
			w.log.Info("a repository was renamed; its issues go on by the name that it had", "repo", p.Name, "now", p.Now)
		}
		r.place = p
		return
	}
	ctx, stop := context.WithCancel(ctx)
	of, sources := w.build(p.Name)
	r := &running{repository: of, place: p, stop: stop}
	for _, s := range sources {
		r.polls.Go(func() { w.run(ctx, s) })
	}
	if w.on == nil {
		w.on = map[string]*running{}
	}
	w.on[key] = r
	w.log.Info("watches a repository", "repo", p.Name)
}

// halt ends the polls of a repository, and waits for them.
func (w *watched) halt(name string) {
	w.mu.Lock()
	r, ok := w.on[strings.ToLower(name)]
	delete(w.on, strings.ToLower(name))
	w.mu.Unlock()
	if ok {
		r.stop()
		r.polls.Wait()
	}
}

func (w *watched) stopAll() {
	w.mu.Lock()
	all := w.on
	w.on = nil
	w.mu.Unlock()
	for _, r := range all {
		r.stop()
	}
	for _, r := range all {
		r.polls.Wait()
	}
}

// warn logs the same once.
func (w *watched) warn(text string, about ...any) {
	key := text + fmt.Sprint(about...)
	if w.warned[key] {
		return
	}
	if w.warned == nil {
		w.warned = map[string]bool{}
	}
	w.warned[key] = true
	w.log.Warn(text, about...)
}

// placesKey is the key of the places in the bucket of cursors. No name of a repository gives
// it.
const placesKey = "repositories"

// places returns the places that are kept, also of other gateways, and their revision.
func (w *watched) places(ctx context.Context) (kept []place, revision uint64, err error) {
	return record[[]place](ctx, w.kv, placesKey, "repositories")
}

// keepPlaces keeps the places if they differ from the kept ones, unless another gateway has done
// so since they were loaded.
func (w *watched) keepPlaces(ctx context.Context, kept, places []place, revision uint64) error {
	if slices.Equal(kept, places) {
		return nil
	}
	data, err := json.Marshal(places)
	if err == nil && revision == 0 {
		_, err = w.kv.Create(ctx, placesKey, data)
	} else if err == nil {
		_, err = w.kv.Update(ctx, placesKey, data, revision)
	}
	if err != nil {
		return fmt.Errorf("repositories: %w", err)
	}
	return nil
}

// asking is a source that asks which repositories there are when the forge refuses its
// poll: the repository may have been removed.
type asking struct {
	source
	ask func()
}

func (a asking) poll(ctx context.Context) error {
	err := a.source.poll(ctx)
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrDenied) {
		a.ask()
	}
	return err
}
