package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nicholas-fedor/shoutrrr"
	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// chat delivers the text of a notification through a service of shoutrrr: Slack, Teams,
// Discord, Matrix, Telegram, ntfy, mail and more.
type chat struct{ router *router.ServiceRouter }

// noChats are services of shoutrrr that are no chat: one prints, the other is a webhook
// without a signature.
var noChats = []string{"logger", "generic"}

// newChat returns the sender to an address of shoutrrr.
func newChat(to string) (chat, error) {
	scheme, _, _ := strings.Cut(to, ":")
	kind, _, _ := strings.Cut(strings.ToLower(scheme), "+")
	if slices.Contains(noChats, kind) {
		return chat{}, errors.New("chat: want the address of a chat; webhook delivers anywhere else")
	}
	made, err := shoutrrr.CreateSender(to)
	if err != nil { // which has the address
		return chat{}, errors.New("chat: want an address as https://shoutrrr.nickfedor.com describes it, such as slack://hook:TOKEN@webhook")
	}
	made.Timeout = within
	return chat{made}, nil
}

func (c chat) send(_ context.Context, n notification, _ string) error {
	for _, err := range c.router.Send(n.plain(), &types.Params{}) {
		switch {
		case errors.Is(err, router.ErrServiceTimeout):
			return errors.New("it does not answer in time")
		case err != nil: // which may have the address
			return errors.New("it does not take the message")
		}
	}
	return nil
}
