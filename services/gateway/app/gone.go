package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// soughtEvery is how often the issues that are worked on are looked for.
const soughtEvery = 24 * time.Hour

// gone cancels the work on an issue that there is no more: it was deleted, or transferred.
func (p *closings) gone(ctx context.Context, number int) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.end(ctx, number, p.absent(number))
}

func (p *closings) absent(number int) string {
	return fmt.Sprintf("issue #%d was deleted or transferred: it is no longer in %s", number, p.repo)
}

// seek cancels, once a day, the work on issues that there are no more. No list of what
// changed tells of those.
func (p *closings) seek(ctx context.Context) error {
	at, err := p.cursors.load(ctx, p.repo+"/gone")
	if err != nil || p.now().Sub(at.Since) < soughtEvery {
		return err
	}
	all, err := p.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return err
	}
	worked := map[int]bool{}
	for _, line := range all {
		text, own := strings.CutPrefix(line.GetInstance(), p.repo+"/")
		if number, err := strconv.Atoi(text); own && err == nil {
			worked[number] = true
		}
	}
	if len(worked) > 0 {
		open, err := p.forge.Issues(ctx, p.repo, time.Time{})
		if err != nil {
			return err // the repository itself cannot be read
		}
		for _, issue := range open {
			delete(worked, issue.Number)
		}
	}
	for number := range worked {
		_, err := p.forge.Issue(ctx, p.repo, number)
		if errors.Is(err, forge.ErrNotFound) {
			err = p.end(ctx, number, p.absent(number))
		}
		if err != nil {
			return err
		}
	}
	return p.cursors.save(ctx, p.repo+"/gone", cursor{Since: p.now()})
}
