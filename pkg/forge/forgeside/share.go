package forgeside

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/allowance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

const (
	// askTimeout is how long a write waits for the orchestrator.
	askTimeout = time.Second
	// alone is how long the orchestrator is not asked after it did not answer.
	alone = 10 * time.Second
)

// Share returns flags whose client keeps its account of the forge's limits together with the
// other processes of the deployment. The orchestrator has that account. A process in which
// all services share one client needs none.
func Share(h *service.Host, flags github.Flags) (github.Flags, error) {
	client, err := flags.Client()
	if err != nil || !client.Paced() {
		return flags, err
	}
	client.Share(&sharing{nc: h.NATS, log: h.Log})
	_, err = h.NATS.Subscribe(subject.ForgeLimits, func(m *nats.Msg) { heed(client, m.Data) }) // until the connection is drained
	return flags.Opened(client), err
}

// heed takes in a limit from a message of the orchestrator. It ignores bytes that are no message.
func heed(client *github.Client, data []byte) {
	var news pb.AllowanceNews
	if proto.Unmarshal(data, &news) == nil {
		client.Heed(news.GetHolder(), wire.ToReachedLimits(news.GetLimits(), time.Now()))
	}
}

// sharing asks the orchestrator. It implements github.Sharing.
type sharing struct {
	nc  *nats.Conn
	log *slog.Logger

	mu      sync.Mutex
	until   time.Time // it is not asked before
	away    bool      // it did not answer
	refused bool      // it does not answer this process, now or later
}

var (
	errAlone   = errors.New("the orchestrator is not asked about the forge's limits now")
	errRefused = errors.New("the orchestrator does not share the forge's limits with this process")
)

// Ask implements github.Sharing.
func (s *sharing) Ask(ctx context.Context, a allowance.Ask) (allowance.Answer, error) {
	if !s.asks(time.Now()) {
		return allowance.Answer{}, errAlone
	}
	answer, err := s.request(ctx, a)
	if ctx.Err() == nil { // else the caller did not wait
		s.note(err, time.Now())
	}
	return answer, err
}

func (s *sharing) asks(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.refused && !s.until.After(now)
}

func (s *sharing) request(ctx context.Context, a allowance.Ask) (allowance.Answer, error) {
	if !s.nc.IsConnected() { // a request would wait until it is again
		return allowance.Answer{}, nats.ErrDisconnected
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	to, err := subject.API(subject.Allowance)
	if err != nil {
		return allowance.Answer{}, err
	}
	data, err := wire.Marshal(wire.Ask(a, time.Now()))
	if err != nil {
		return allowance.Answer{}, err
	}
	got, err := s.nc.RequestWithContext(ctx, to, data)
	if err != nil {
		return allowance.Answer{}, err
	}
	var reply pb.AllowanceReply
	if err := proto.Unmarshal(got.Data, &reply); err != nil {
		return allowance.Answer{}, err
	}
	switch no := reply.GetRefusal(); no.GetCode() {
	case "":
		return wire.ToAllowance(&reply, time.Now()), nil
	case "unavailable":
		return allowance.Answer{}, errors.New(no.GetMessage())
	default:
		return allowance.Answer{}, fmt.Errorf("%w: %s", errRefused, no.GetMessage())
	}
}

// note remembers whether the orchestrator answers, and logs when that changes.
func (s *sharing) note(err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.away
	s.away = err != nil
	if err != nil {
		s.until, s.refused = now.Add(alone), s.refused || errors.Is(err, errRefused)
	}
	switch {
	case s.away && !was:
		s.log.Warn("the orchestrator does not answer about the forge's limits; this process keeps to an account of its own", "error", err)
	case was && !s.away:
		s.log.Info("the account of the forge's limits is shared again")
	}
}
