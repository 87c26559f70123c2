package forgeside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/outbound"
	"github.com/signalbox/signalbox/pkg/subject"
)

// Word is what a service has the PM tell people in a comment. Key is its own: the same
// word is posted once, however often it is asked for.
type Word struct {
	Repo     string `json:"repo"`
	Number   int    `json:"number"`   // of the issue or pull request
	Instance string `json:"instance"` // that it is about; may be empty
	Key      string `json:"key"`
	Body     string `json:"body"`
}

// sayWithin is how long the PM may take to post a word.
const sayWithin = 30 * time.Second

// ErrUnsaid means that the PM did not post a word: it does not run, or the forge does not
// take it now. Ask again.
var ErrUnsaid = errors.New("the PM does not post it")

// Say has the PM post a word. A word that may never be posted is ErrRepository, or
// forge.ErrInvalid.
func Say(ctx context.Context, nc *nats.Conn, w Word) error {
	body, err := json.Marshal(w)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sayWithin)
	defer cancel()
	answer, err := nc.RequestWithContext(ctx, subject.Say, body)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnsaid, err)
	}
	why := answer.Header.Get(micro.ErrorHeader)
	switch answer.Header.Get(micro.ErrorCodeHeader) {
	case "":
		return nil
	case "400":
		return fmt.Errorf("%w: %s", forge.ErrInvalid, why)
	}
	return fmt.Errorf("%w: %s", ErrUnsaid, why)
}

// Hear answers requests of Say by post until ctx ends.
func Hear(ctx context.Context, nc *nats.Conn, post func(context.Context, Word) error) error {
	svc, err := micro.AddService(nc, micro.Config{Name: "signalbox-pm", Version: "1.0.0", Description: "comments for people"})
	if err != nil {
		return err
	}
	err = svc.AddEndpoint("say", micro.HandlerFunc(func(m micro.Request) {
		var w Word
		if err := json.Unmarshal(m.Data(), &w); err != nil || w.Repo == "" || w.Number <= 0 || w.Key == "" || w.Body == "" {
			_ = m.Error("400", "want repo, number, key and body", nil)
			return
		}
		within, cancel := context.WithTimeout(ctx, sayWithin)
		defer cancel()
		switch err := post(within, w); {
		case errors.As(err, new(*outbound.Refusal)), errors.Is(err, ErrRepository), errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrInvalid):
			_ = m.Error("400", err.Error(), nil)
		case err != nil:
			_ = m.Error("502", err.Error(), nil)
		default:
			_ = m.Respond(nil)
		}
	}), micro.WithEndpointSubject(subject.Say))
	if err != nil {
		return err
	}
	<-ctx.Done()
	return svc.Stop()
}
