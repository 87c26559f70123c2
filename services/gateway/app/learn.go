package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// learn signals facts to the instances whose pull requests they are of. It asks the forge
// for what it does not know of pull requests that are tracked, and for nothing else.
func (p *pulls) learn(ctx context.Context, facts []change.Fact) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	if err := p.refresh(ctx); err != nil {
		return err
	}
	tracked := map[int]bool{}
	for _, one := range p.known {
		tracked[one.pull] = one.pull > 0
	}
	maps.DeleteFunc(p.heads, func(number int, _ change.Head) bool { return !tracked[number] })
	read := map[int]bool{}
	var errs error
	for _, f := range facts {
		for _, number := range slices.Sorted(maps.Keys(tracked)) {
			if number > 0 {
				errs = errors.Join(errs, p.tell(ctx, f, number, read))
			}
		}
	}
	return errs
}

// tell signals the fact to the instances of the pull request, if it is of that.
func (p *pulls) tell(ctx context.Context, f change.Fact, number int, read map[int]bool) error {
	of, err := p.concerns(ctx, f, number, read)
	if err != nil || !of || f.ID == "" {
		return err
	}
	if f.App != "" {
		if self, err := p.forge.Self(ctx); err != nil || self == f.App+"[bot]" {
			return err
		}
	}
	data := map[string]string{"pull_request": strconv.Itoa(number), "event": f.Event}
	if url := p.heads[number].URL; url != "" {
		data["url"] = url
	}
	for id, one := range p.known {
		if one.pull != number {
			continue
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%s", id, p.repo, number, f.ID))
		_, err := p.client.Signal(ctx, id, "changed", "pull/"+hex.EncodeToString(sum[:16]), "gateway", data)
		if err := p.dropRefusal(id, err); err != nil {
			return err
		}
	}
	return nil
}

// concerns reports whether a fact is of the pull request. It reads that at most once, and
// only if what is known of it does not answer.
func (p *pulls) concerns(ctx context.Context, f change.Fact, number int, read map[int]bool) (bool, error) {
	for {
		h, known := p.heads[number]
		if concerns, sure := f.Concerns(number, h, known); sure || read[number] { // the latter: of a commit that is not its newest any more
			return concerns, nil
		}
		read[number] = true
		pr, err := p.forge.PullRequest(ctx, p.repo, number)
		if errors.Is(err, forge.ErrNotFound) {
			return false, nil
		}
		if err == nil {
			err = p.signal(ctx, pr)
		}
		if err != nil {
			return false, err
		}
	}
}

// note keeps what facts are held against.
func (p *pulls) note(pr forge.PullRequest) {
	if p.heads == nil {
		p.heads = map[int]change.Head{}
	}
	h := change.Head{SHA: pr.HeadSHA, Base: pr.BaseRef, URL: pr.URL}
	if strings.EqualFold(pr.HeadRepo, p.repo) {
		h.Ref = pr.HeadRef
	}
	p.heads[pr.Number] = h
}
