package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/forge"
)

const (
	deliveriesAtOnce = 200             // that are read together: an issue is looked at once for all of them
	itemsAtOnce      = 8               // issues and pull requests that are looked at together
	deliveryIdle     = 5 * time.Second // of one request for more
	itemWithin       = 40 * time.Second
	deliveryTries    = 20 // of one that the forge or the orchestrator refuses
	// The waits before a delivery is handled again: each is twice the one before.
	deliverySoon  = 250 * time.Millisecond
	deliveryAgain = 30 * time.Second
)

// deliveries handles what the webhooks delivered.
type deliveries struct {
	js      jetstream.JetStream
	watched *watched
	handled *prometheus.CounterVec
	log     *slog.Logger
}

// newHandled returns the counter of what became of deliveries.
func newHandled(r prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_gateway_deliveries_handled_total",
		Help: "Deliveries of webhooks by event and result: done, again, unheard, elsewhere or aside."}, []string{"event", "result"})
	r.MustRegister(c)
	return c
}

// newTaken returns the counter of deliveries as they come.
func newTaken(r prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_gateway_deliveries_total",
		Help: "Deliveries of webhooks by event and the status of the answer. Refused ones have no event."}, []string{"event", "status"})
	r.MustRegister(c)
	return c
}

// work handles deliveries until ctx ends. A delivery that fails is handled again later,
// after the others.
func (d *deliveries) work(ctx context.Context) error {
	slow := pacing.Backoff(100*time.Millisecond, 5*time.Second)
	var consumer jetstream.Consumer
	for ctx.Err() == nil {
		err := error(nil)
		if consumer == nil {
			consumer, err = d.js.Consumer(ctx, subject.DeliveryStream, subject.DeliveryReader)
		}
		if err == nil {
			err = d.round(ctx, consumer)
		}
		if err == nil {
			slow.Reset()
			continue
		}
		if ctx.Err() != nil {
			break
		}
		d.log.Warn("deliveries cannot be read", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(slow.NextBackOff()):
		}
	}
	return nil
}

// round handles the deliveries that there are, after it has waited for the first.
func (d *deliveries) round(ctx context.Context, consumer jetstream.Consumer) error {
	var all []jetstream.Msg
	within, cancel := context.WithTimeout(ctx, deliveryIdle)
	defer cancel()
	first, err := consumer.Fetch(1, jetstream.FetchContext(within), jetstream.FetchHeartbeat(deliveryIdle/10))
	if err != nil {
		return err
	}
	for m := range first.Messages() {
		all = append(all, m)
	}
	if err := first.Error(); len(all) == 0 {
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	if more, err := consumer.FetchNoWait(deliveriesAtOnce - 1); err == nil {
		for m := range more.Messages() {
			all = append(all, m)
		}
	}
	return d.handle(ctx, all)
}

// wanted is an issue or a pull request to look at, or facts, and the deliveries of it.
type wanted struct {
	repo  repository
	item  item
	since time.Time
	facts []fact
	of    []int // deliveries
	err   error

	commands   bool // there may be some
	configures bool // it is the configuration
}

func (w *wanted) handle(ctx context.Context) error {
	if w.configures {
		return w.repo.issues.configs.again(ctx)
	}
	if len(w.facts) > 0 {
		return w.repo.learn(ctx, w.facts)
	}
	return w.repo.look(ctx, w.item, w.since, w.commands)
}

// handle handles deliveries together.
func (d *deliveries) handle(ctx context.Context, all []jetstream.Msg) error {
	read := make([]delivery, len(all))
	failed := make([]error, len(all))
	looks := map[string]*wanted{}
	for n, m := range all {
		var repo repository
		var known bool
		if read[n], repo, known = d.read(m); !known {
			continue
		}
		for _, i := range read[n].items {
			key := fmt.Sprintf("%s %v", repo.issues.repo, i)
			w := looks[key]
			if w == nil {
				w = &wanted{repo: repo, item: i, since: read[n].since}
				looks[key] = w
			}
			if read[n].since.Before(w.since) { // zero: since the cursor
				w.since = read[n].since
			}
			w.of = append(w.of, n)
			w.commands = w.commands || read[n].slash
		}
		if facts := read[n].facts; len(facts) > 0 {
			w := looks[repo.issues.repo]
			if w == nil {
				w = &wanted{repo: repo}
				looks[repo.issues.repo] = w
			}
			w.facts = append(w.facts, facts...)
			w.of = append(w.of, n)
		}
		if read[n].configures {
			key := repo.issues.repo + " configuration"
			if looks[key] == nil {
				looks[key] = &wanted{repo: repo, configures: true}
			}
			looks[key].of = append(looks[key].of, n)
		}
		if set := read[n].set; set != nil {
			d.repositoriesChanged(*set)
		}
	}
	group, _ := errgroup.WithContext(ctx)
	group.SetLimit(itemsAtOnce)
	for _, w := range looks {
		group.Go(func() error {
			within, cancel := context.WithTimeout(ctx, itemWithin)
			defer cancel()
			w.err = w.handle(within)
			return nil
		})
	}
	_ = group.Wait() // no function fails
	for _, w := range looks {
		for _, n := range w.of {
			failed[n] = errors.Join(failed[n], w.err)
		}
	}
	if ctx.Err() != nil {
		return nil // not acknowledged: the next process has them
	}
	for n, m := range all {
		if read[n].heard() {
			d.settle(m, read[n], failed[n])
		}
	}
	return nil
}

// read reads a delivery. One that is nobody's business is settled at once; then it is not
// known.
func (d *deliveries) read(m jetstream.Msg) (read delivery, repo repository, known bool) {
	event, id, err := subject.ParseDelivery(m.Subject())
	if err != nil {
		event = "unknown"
	}
	body, unpack := unpacked(m.Headers(), m.Data())
	if err = errors.Join(err, unpack); err == nil {
		read, err = readDelivery(event, id, body)
	}
	if err != nil {
		d.handled.WithLabelValues(event, "aside").Inc()
		d.log.Error("a delivery is set aside: it cannot be read", "event", event, "delivery", id, "error", err)
		_ = m.TermWithReason("not a delivery")
		return delivery{}, repo, false
	}
	repo, watched := d.watched.find(read.repo)
	switch {
	case !read.heard():
		d.handled.WithLabelValues(event, "unheard").Inc()
	case !watched && read.set == nil:
		d.handled.WithLabelValues(event, "elsewhere").Inc()
	default:
		return read, repo, true
	}
	_ = m.Ack() // if that is lost it is read again
	return delivery{}, repo, false
}

// settle acknowledges a delivery, has it delivered again later, or sets it aside.
func (d *deliveries) settle(m jetstream.Msg, read delivery, err error) {
	limit, no := new(forge.RateLimit), new(instance.Refusal)
	meta, unread := m.Metadata()
	result, again := "done", deliveryAgain
	if unread == nil && meta.NumDelivered < 8 {
		again = min(again, deliverySoon<<meta.NumDelivered)
	}
	switch {
	case err == nil:
		err = m.Ack()
	case errors.As(err, &limit):
		result, again = "again", max(again, time.Until(limit.Until))
		err = errors.Join(err, m.NakWithDelay(again))
	case lasting(err) || errors.As(err, &no):
		if result = "again"; unread == nil && meta.NumDelivered >= deliveryTries {
			result = "aside"
			err = errors.Join(err, m.TermWithReason("refused too often"))
		} else {
			err = errors.Join(err, m.NakWithDelay(again))
		}
	default:
		result = "again"
		err = errors.Join(err, m.NakWithDelay(again))
	}
	d.handled.WithLabelValues(read.event, result).Inc()
	if err != nil {
		_, id, _ := subject.ParseDelivery(m.Subject())
		d.log.Warn("a delivery was not handled", "event", read.event, "action", read.action, "repo", read.repo, "delivery", id,
			"result", result, "error", err)
	}
}

// lasting reports whether an error of the forge is about the thing that was asked for, so
// that time alone does not mend it.
func lasting(err error) bool {
	return errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrInvalid)
}

// replayed is the answer to sb.forge.delivery.replay.
type replayed struct {
	Delivery string    `json:"delivery"`
	Event    string    `json:"event"`
	Action   string    `json:"action,omitempty"`
	Repo     string    `json:"repo,omitempty"`
	At       time.Time `json:"at"`     // when it was taken
	Result   string    `json:"result"` // done, unheard, elsewhere
	Items    []int     `json:"items,omitempty"`
}

// replay handles one delivery again, whatever became of it before.
func (d *deliveries) replay(m micro.Request) {
	ctx, cancel := context.WithTimeout(context.Background(), itemWithin)
	defer cancel()
	var ask struct{ Delivery string }
	_ = json.Unmarshal(m.Data(), &ask) // without an id it is refused
	answer, err := d.again(ctx, ask.Delivery)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound), errors.Is(err, subject.ErrInvalid):
		_ = m.Error("404", fmt.Sprintf("no delivery %.70q is kept; have the forge deliver it again", ask.Delivery), nil)
	case errors.Is(err, errDelivery):
		_ = m.Error("400", err.Error(), nil)
	case err != nil:
		_ = m.Error("502", err.Error(), nil)
	default:
		_ = m.RespondJSON(answer)
	}
}

func (d *deliveries) again(ctx context.Context, id string) (replayed, error) {
	filter, err := subject.AnyEvent(id)
	if err != nil {
		return replayed{}, err
	}
	stream, err := d.js.Stream(ctx, subject.DeliveryStream)
	if err != nil {
		return replayed{}, err
	}
	m, err := stream.GetLastMsgForSubject(ctx, filter)
	if err != nil {
		return replayed{}, err
	}
	event, _, err := subject.ParseDelivery(m.Subject)
	if err != nil {
		return replayed{}, err
	}
	body, err := unpacked(m.Header, m.Data)
	if err != nil {
		return replayed{}, fmt.Errorf("%w: %w", errDelivery, err)
	}
	read, err := readDelivery(event, id, body)
	if err != nil {
		return replayed{}, err
	}
	out := replayed{Delivery: id, Event: event, Action: read.action, Repo: read.repo, At: m.Time, Result: "done"}
	repo, watched := d.watched.find(read.repo)
	switch {
	case !read.heard():
		out.Result = "unheard"
		return out, nil
	case read.set != nil:
		d.repositoriesChanged(*read.set)
		return out, nil
	case !watched:
		out.Result = "elsewhere"
		return out, nil
	}
	for _, i := range read.items {
		out.Items = append(out.Items, i.number)
		err = errors.Join(err, repo.look(ctx, i, read.since, read.slash))
	}
	if len(read.facts) > 0 {
		err = errors.Join(err, repo.learn(ctx, read.facts))
	}
	if read.configures {
		err = errors.Join(err, repo.issues.configs.again(ctx))
	}
	return out, err
}
