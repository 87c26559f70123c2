package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/services/gateway/change"
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
	for _, event := range change.Events() {
		for _, result := range []string{resultDone, resultUnheard, resultElsewhere, resultAgain, resultAside} {
			c.WithLabelValues(event.Name, result)
		}
	}
	return c
}

// newTaken returns the counter of deliveries as they come.
func newTaken(r prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_gateway_deliveries_total",
		Help: "Deliveries of webhooks by event and the status of the answer. Refused ones have no event."}, []string{"event", "status"})
	r.MustRegister(c)
	return c
}

// consume handles deliveries until ctx ends. A delivery that fails is handled again later,
// after the others.
func (d *deliveries) consume(ctx context.Context) error {
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

// task is a part of a repository to look at, and the deliveries that ask for it.
type task struct {
	repo       repository
	item       change.Item
	since      time.Time // zero: since the cursor
	commands   bool      // there may be some
	facts      []change.Fact
	configures bool  // it is the configuration
	of         []int // deliveries
	err        error
}

func (t *task) run(ctx context.Context) error {
	switch {
	case t.configures:
		return t.repo.issues.configs.refresh(ctx)
	case len(t.facts) > 0:
		return t.repo.facts(ctx, t.facts)
	}
	return t.repo.look(ctx, t.item, t.since, t.commands)
}

// tasks are what deliveries ask for, each once for all that ask for the same.
type tasks map[string]*task

func (all tasks) add(repo repository, n int, c change.Change) {
	join := func(key string, t task) *task {
		key = repo.issues.repo + " " + key
		if all[key] == nil {
			t.repo = repo
			all[key] = &t
		}
		all[key].of = append(all[key].of, n)
		return all[key]
	}
	for _, i := range c.Items {
		t := join(fmt.Sprint(i), task{item: i, since: c.Since})
		if c.Since.Before(t.since) {
			t.since = c.Since
		}
		t.commands = t.commands || c.Commands
	}
	if len(c.Facts) > 0 {
		t := join("facts", task{})
		t.facts = append(t.facts, c.Facts...)
	}
	if c.Configures {
		join("configuration", task{configures: true})
	}
}

// runAll runs the tasks, several at a time, and returns the errors of each delivery.
func (all tasks) runAll(ctx context.Context, deliveries int) []error {
	failed := make([]error, deliveries)
	group, _ := errgroup.WithContext(ctx)
	group.SetLimit(itemsAtOnce)
	for _, t := range all {
		group.Go(func() error {
			within, cancel := context.WithTimeout(ctx, itemWithin)
			defer cancel()
			t.err = t.run(within)
			return nil
		})
	}
	_ = group.Wait() // no function fails
	for _, t := range all {
		for _, n := range t.of {
			failed[n] = errors.Join(failed[n], t.err)
		}
	}
	return failed
}

// The results of a delivery.
const (
	resultDone      = "done"
	resultUnheard   = "unheard"   // nothing is to be done
	resultElsewhere = "elsewhere" // in a repository that is not watched
	resultAgain     = "again"
	resultAside     = "aside"
)

// handle handles deliveries together.
func (d *deliveries) handle(ctx context.Context, all []jetstream.Msg) error {
	read, wanted := map[int]change.Change{}, tasks{}
	for n, m := range all {
		event, id, err := subject.ParseDelivery(m.Subject())
		if err != nil {
			event = "unknown"
		}
		var c change.Change
		if err == nil {
			c, err = decode(event, id, m.Headers(), m.Data())
		}
		if err != nil {
			d.handled.WithLabelValues(event, resultAside).Inc()
			d.log.Error("a delivery is set aside: it cannot be read", "event", event, "delivery", id, "error", err)
			_ = m.TermWithReason("not a delivery")
			continue
		}
		if result := d.assign(n, c, wanted); result != resultDone {
			d.handled.WithLabelValues(event, result).Inc()
			_ = m.Ack() // if that is lost it is read again
			continue
		}
		read[n] = c
	}
	failed := wanted.runAll(ctx, len(all))
	if ctx.Err() != nil {
		return nil // not acknowledged: the next process has them
	}
	for n, c := range read {
		d.conclude(all[n], c, failed[n])
	}
	return nil
}

// decode reads a delivery as it is kept.
func decode(event, id string, header nats.Header, data []byte) (change.Change, error) {
	body, err := unpacked(header, data)
	if err != nil {
		return change.Change{}, fmt.Errorf("%w: %w", change.ErrForm, err)
	}
	return change.Read(event, id, body)
}

// assign adds to the tasks what a change asks for. Nothing is asked for unless it returns resultDone.
func (d *deliveries) assign(n int, c change.Change, wanted tasks) (result string) {
	repo, watched := d.watched.lookUp(c.Repo)
	switch {
	case !c.Matters():
		return resultUnheard
	case c.Repositories != nil:
		d.log.Info("the forge reports that repositories have changed", "event", c.Event, "action", c.Action, "repos", c.Repositories.Names,
			"was", c.Repositories.Was)
		d.watched.ask()
	case !watched:
		return resultElsewhere
	default:
		wanted.add(repo, n, c)
	}
	return resultDone
}

// conclude acknowledges a delivery, has it delivered again later, or sets it aside.
func (d *deliveries) conclude(m jetstream.Msg, c change.Change, err error) {
	limit, no := new(forge.RateLimit), new(instance.Refusal)
	meta, unread := m.Metadata()
	result, again := resultDone, deliveryAgain
	if unread == nil && meta.NumDelivered < 8 {
		again = min(again, deliverySoon<<meta.NumDelivered)
	}
	switch {
	case err == nil:
		err = m.Ack()
	case errors.As(err, &limit):
		result, again = resultAgain, max(again, time.Until(limit.Until))
		err = errors.Join(err, m.NakWithDelay(again))
	case lasting(err) || errors.As(err, &no):
		if result = resultAgain; unread == nil && meta.NumDelivered >= deliveryTries {
			result = resultAside
			err = errors.Join(err, m.TermWithReason("refused too often"))
		} else {
			err = errors.Join(err, m.NakWithDelay(again))
		}
	default:
		result = resultAgain
		err = errors.Join(err, m.NakWithDelay(again))
	}
	d.handled.WithLabelValues(c.Event, result).Inc()
	if err != nil {
		_, id, _ := subject.ParseDelivery(m.Subject())
		d.log.Warn("a delivery was not handled", "event", c.Event, "action", c.Action, "repo", c.Repo, "delivery", id,
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
	case errors.Is(err, change.ErrForm):
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
	c, err := decode(event, id, m.Header, m.Data)
	if err != nil {
		return replayed{}, err
	}
	out, wanted := replayed{Delivery: id, Event: event, Action: c.Action, Repo: c.Repo, At: m.Time}, tasks{}
	out.Result = d.assign(0, c, wanted)
	if out.Result == resultDone {
		for _, i := range c.Items {
			out.Items = append(out.Items, i.Number)
		}
	}
	return out, wanted.runAll(ctx, 1)[0]
}
