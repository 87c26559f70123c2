package forgeside

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
)

// patience is how long the forge may take to answer at the start.
const patience = 10 * time.Second

// Reach reads the repositories that are named, not those of a pattern. A wrong token,
// address or repository is an error of usage. A forge that does not answer is only warned
// of: that may pass. From then on the client of the flags shares its account of the forge's limits.
func Reach(ctx context.Context, h *service.Host, flags *github.Flags, repos []string) error {
	if err := Repositories(repos).Validate(); err != nil {
		return service.Usagef("%w", err)
	}
	reaching, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := flags.Reach(reaching, Repositories(repos).Exact())
	switch {
	case errors.Is(err, forge.ErrDenied), errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrInvalid):
		return service.Usagef("%w", err)
	case err != nil && ctx.Err() == nil:
		h.Log.Warn("the forge does not answer, it is asked again", "error", err)
	}
	*flags, err = Share(h, *flags)
	return err
}
