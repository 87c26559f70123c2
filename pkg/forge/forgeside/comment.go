package forgeside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/forge"
)

// CommentRequest asks the PM for a comment. Key is the asking service's own: a comment of one
// key is posted once, however often it is asked for.
type CommentRequest struct {
	Repo     string `json:"repo"`
	Number   int    `json:"number"`   // of the issue or pull request
	Instance string `json:"instance"` // that it is about; may be empty
	Key      string `json:"key"`
	Body     string `json:"body"`
}

// commentTimeout is how long the PM may take to post a comment.
const commentTimeout = 30 * time.Second

// ErrNotPosted means that the PM did not post a comment: it does not run, or the forge does
// not take it now. Ask again.
var ErrNotPosted = errors.New("the PM does not post it")

// RequestComment has the PM post a comment, and waits for that. The error of one that may
// never be posted is forge.ErrInvalid.
func RequestComment(ctx context.Context, nc *nats.Conn, w CommentRequest) error {
	body, err := json.Marshal(w)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, commentTimeout)
	defer cancel()
	answer, err := nc.RequestWithContext(ctx, subject.PostComment, body)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotPosted, err)
	}
	why := answer.Header.Get(micro.ErrorHeader)
	switch answer.Header.Get(micro.ErrorCodeHeader) {
	case "":
		return nil
	case "400":
		return fmt.Errorf("%w: %s", forge.ErrInvalid, why)
	}
	return fmt.Errorf("%w: %s", ErrNotPosted, why)
}

// RefusesComment reports whether the forge takes no comment in a place, which is no fault of
// the work and does not go away by itself: it is locked or gone, interaction is limited, or
// its author has blocked us. The work goes on, and the comment is owed.
func RefusesComment(err error) bool {
	return errors.Is(err, forge.ErrDenied) && !errors.Is(err, forge.ErrUnauthenticated) || errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrInvalid)
}

// Untold is the name, in the data of a result, of why its comment is not on the forge. It is
// owed: the PM posts it later, once the instance has ended.
const Untold = "untold"

// ServeComments answers the requests of RequestComment by post until ctx ends.
func ServeComments(ctx context.Context, nc *nats.Conn, post func(context.Context, CommentRequest) error) error {
	svc, err := micro.AddService(nc, micro.Config{Name: "signalbox-pm", Version: "1.0.0", Description: "comments for people"})
	if err != nil {
		return err
	}
	err = svc.AddEndpoint("comment", micro.HandlerFunc(func(m micro.Request) {
		var w CommentRequest
		if err := json.Unmarshal(m.Data(), &w); err != nil || w.Repo == "" || w.Number <= 0 || w.Key == "" || w.Body == "" {
			_ = m.Error("400", "want repo, number, key and body", nil)
			return
		}
		within, cancel := context.WithTimeout(ctx, commentTimeout)
		defer cancel()
		switch err := post(within, w); {
		case errors.As(err, new(*outbound.Refusal)), errors.Is(err, ErrRepository), errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrInvalid):
			_ = m.Error("400", err.Error(), nil)
		case err != nil:
			_ = m.Error("502", err.Error(), nil)
		default:
			_ = m.Respond(nil)
		}
	}), micro.WithEndpointSubject(subject.PostComment))
	if err != nil {
		return err
	}
	<-ctx.Done()
	return svc.Stop()
}
