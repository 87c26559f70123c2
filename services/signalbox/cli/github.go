package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/services/signalbox/setup"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// githubCommands are the commands about the forge.
type githubCommands struct {
	Setup  setup.Command `cmd:"" help:"Make a GitHub App for a team, with the browser: its key and secrets are kept where up, the gateway and doctor find them."`
	Replay replayCommand `cmd:"" help:"Have the gateway handle again what a webhook delivered."`
}

// replayCommand is `signalbox github replay`.
type replayCommand struct {
	running
	Delivery string `arg:"" help:"Its id: X-GitHub-Delivery, as the forge's page of the webhook and the gateway's log have it."`
}

// Run prints what became of the delivery.
func (c replayCommand) Run(ctx context.Context, env *term.Env) error {
	return c.call(ctx, env, func(ctx context.Context, s system) error {
		ask, err := json.Marshal(map[string]string{"delivery": c.Delivery})
		if err != nil {
			return err
		}
		msg, err := s.nats.RequestWithContext(ctx, subject.ReplayDelivery, ask)
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			return errors.New("no gateway answers")
		case err != nil:
			return err
		}
		if text := msg.Header.Get(micro.ErrorHeader); text != "" {
			return fmt.Errorf("the gateway refuses: %s", text)
		}
		var did struct {
			Delivery, Event, Action, Repo, Result string
			At                                    time.Time
			Items                                 []int
		}
		if err := json.Unmarshal(msg.Data, &did); err != nil {
			return fmt.Errorf("the gateway's answer %.100q: %w", msg.Data, err)
		}
		if env.JSON {
			_, err := fmt.Fprintf(env.Stdout, "%s\n", msg.Data)
			return err
		}
		_, err = fmt.Fprintf(env.Stdout, "%s: %s\n", term.Line(strings.Join(strings.Fields(did.Event+" "+did.Action+" "+did.Repo), " ")),
			replayResult(did.Result, did.Items))
		return err
	})
}

// replayResult says in words what became of a delivery.
func replayResult(result string, items []int) string {
	switch result {
	case "unheard":
		return "nothing listens to it"
	case "elsewhere":
		return "this gateway does not watch the repository"
	}
	var all []string
	for _, n := range items {
		all = append(all, fmt.Sprintf("#%d", n))
	}
	return "looked at " + strings.Join(all, ", ")
}
