package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// wrongKey is the key of the comment that tells of a wrong file: there is one an issue.
const wrongKey = "configuration"

// untold is a wrong file that needs a comment, on an issue that was taken up.
type untold struct {
	Number   int    `json:"number"`
	Instance string `json:"instance"`
	Problem  string `json:"problem"`
}

// sayer has a comment posted.
type sayer func(context.Context, forgeside.CommentRequest) error

// tellings tells people of a wrong configuration. It is a source: what the PM does not post
// is asked for again at the next poll.
type tellings struct {
	configs *configurations
	say     sayer
}

func (t *tellings) about() (string, *slog.Logger) { return t.configs.repo, t.configs.log }

// poll has posted what is not posted yet. Any goroutine may call it.
func (t *tellings) poll(ctx context.Context) error {
	next, err := t.configs.untold(ctx)
	if err != nil || next == nil {
		return err
	}
	err = t.say(ctx, forgeside.CommentRequest{Repo: t.configs.repo, Number: next.Number, Instance: next.Instance, Key: wrongKey,
		Body: rules.Misconfigured(next.Problem)})
	if errors.Is(err, forge.ErrInvalid) {
		t.configs.log.Warn("people are not notified that the configuration is wrong", "instance", next.Instance, "error", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return t.configs.posted(ctx, *next)
}

// tellWithin is how long the taking up of an issue waits for the comment.
const tellWithin = 5 * time.Second

// tell has the PM comment on the issue that was just taken up. If that takes long, or fails,
// the next poll of tellings does it.
func (p *poller) tell(ctx context.Context, number int, name string, config inForce) {
	if err := p.configs.told(ctx, untold{number, name, config.problem}, config.wrongHash); err != nil {
		p.log.Warn("people may be notified twice that the configuration is wrong", "error", err)
	}
	if p.wrong == nil {
		return
	}
	within, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	if err := p.wrong.poll(within); err != nil {
		p.log.Info("people are not notified yet that the configuration is wrong", "instance", name, "error", err)
	}
}

// told notes that a comment on the wrong file is under way, and where.
func (c *configurations) told(ctx context.Context, where untold, hash string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read.wrongHash == hash {
		c.read.problem = ""
	}
	k, err := c.kept(ctx)
	if err != nil || k.Told == hash {
		return err
	}
	k.Told, k.Untold, c.silent = hash, &where, false
	return c.keep(ctx, k)
}

// untold returns the file that still needs a comment, nil if none does.
func (c *configurations) untold(ctx context.Context) (*untold, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent {
		return nil, nil
	}
	k, err := c.kept(ctx)
	c.silent = err == nil && k.Untold == nil
	return k.Untold, err
}

// posted notes that the comment is there.
func (c *configurations) posted(ctx context.Context, what untold) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, err := c.kept(ctx)
	if err != nil || k.Untold == nil || *k.Untold != what {
		return err
	}
	k.Untold, c.silent = nil, true
	return c.keep(ctx, k)
}
