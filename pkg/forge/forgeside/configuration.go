package forgeside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// ConfigurationRequest asks the gateway which configuration is in force for a repository. Without
// a repository it asks how the forge is.
type ConfigurationRequest struct {
	Repo string `json:"repo"`
}

// ConfigurationAnswer is what an instance is opened with. Its Problem says what is wrong
// with a newer file.
type ConfigurationAnswer struct {
	Config *instance.Configuration `json:"config"`          // nil: there is none
	Fault  string                  `json:"fault,omitempty"` // of the forge, by its newest answer; empty: it has none
}

// The codes of the gateway's errors.
const (
	NotWatched    = "404" // by this gateway
	Misconfigured = "409" // the only file there was is wrong
	NotRead       = "502" // the forge or the bus does not answer
)

var (
	// ErrMisconfigured means that the only file there was is wrong: nothing is opened.
	ErrMisconfigured = errors.New("its configuration is wrong, and nothing new is taken up while none was right")
	// ErrUnread means that no gateway answered with the configuration in force.
	ErrUnread = errors.New("its configuration is not read")
)

// RequestConfiguration returns the configuration that is in force for a repository, nil for
// none. The context bounds how long the gateway may take. The error is ErrMisconfigured,
// ErrUnread, or the context's if its caller gave up.
func RequestConfiguration(ctx context.Context, nc *nats.Conn, repo string) (*instance.Configuration, error) {
	answer, err := request(ctx, nc, repo)
	return answer.Config, err
}

// RequestFault returns the fault of the forge that the gateway met at its newest request, for
// people; empty: none. The error is ErrUnread if no gateway of this version answers.
func RequestFault(ctx context.Context, nc *nats.Conn) (string, error) {
	answer, err := request(ctx, nc, "")
	return answer.Fault, err
}

func request(ctx context.Context, nc *nats.Conn, repo string) (answer ConfigurationAnswer, err error) {
	ask, err := json.Marshal(ConfigurationRequest{repo})
	if err != nil {
		return answer, err
	}
	m, err := nc.RequestWithContext(ctx, subject.Configuration, ask)
	switch {
	case errors.Is(err, context.Canceled):
		return answer, err
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, context.DeadlineExceeded):
		return answer, fmt.Errorf("%w: no gateway answers", ErrUnread)
	case err != nil:
		return answer, fmt.Errorf("%w: %w", ErrUnread, err)
	}
	why := m.Header.Get(micro.ErrorHeader)
	switch m.Header.Get(micro.ErrorCodeHeader) {
	case "":
	case Misconfigured:
		return answer, fmt.Errorf("%w: %s", ErrMisconfigured, m.Data)
	default:
		return answer, fmt.Errorf("%w: %s", ErrUnread, why)
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return answer, fmt.Errorf("%w: the gateway's answer %.100q: %w", ErrUnread, m.Data, err)
	}
	return answer, nil
}
