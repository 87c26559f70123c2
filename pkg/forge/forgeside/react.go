package forgeside

import (
	"context"

	"github.com/signalbox/signalbox/pkg/forge"
)

// React implements forge.Discussion.
func (f *Forge) React(ctx context.Context, repo string, comment int64, with forge.Reaction) error {
	if err := f.check("reaction", repo); err != nil {
		return err
	}
	return f.client.React(ctx, repo, comment, with)
}
