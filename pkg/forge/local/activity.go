package local

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// push is a move of a branch.
type push struct {
	ID     int64     `json:"id"`
	Ref    string    `json:"ref"`
	Before string    `json:"before"`
	After  string    `json:"after"`
	Kind   string    `json:"kind"`
	Actor  int64     `json:"actor"`
	At     time.Time `json:"at"`
}

func (p push) key() int64 { return p.ID }

// moved writes down who moved a branch.
func (t *tx) moved(repo string, p push) {
	p.ID, p.At = t.id(), t.now
	switch {
	case p.Kind != "":
	case p.Before == zero:
		p.Kind = "branch_creation"
	case p.After == zero:
		p.Kind = "branch_deletion"
	default:
		p.Kind = "push"
	}
	t.put(entry{Repo: repo, Push: &p})
}

// moves reads which refs a push is to move from the head of its body: packet
// lines "before after ref" up to the first empty one.
type moves struct {
	rest []byte
	over bool
	all  []push
}

func (m *moves) Write(p []byte) (int, error) {
	if !m.over {
		m.rest = append(m.rest, p...)
	}
	for !m.over && len(m.rest) >= 4 {
		length, err := strconv.ParseUint(string(m.rest[:4]), 16, 16)
		if err != nil || length < 4 {
			m.over, m.rest = true, nil
			break
		}
		if len(m.rest) < int(length) {
			break
		}
		line, _, _ := bytes.Cut(m.rest[4:length], []byte{0})
		m.rest = m.rest[length:]
		if part := strings.Fields(string(line)); len(part) == 3 && strings.HasPrefix(part[2], "refs/heads/") {
			m.all = append(m.all, push{Before: part[0], After: part[1], Ref: part[2]})
		}
	}
	return len(p), nil
}

// done is those of the moves that git has made.
func (f *Forge) done(ctx context.Context, repo string, wanted []push) ([]push, error) {
	refs, err := f.refs(ctx, repo)
	if err != nil {
		return nil, err
	}
	var made []push
	for _, p := range wanted {
		now := refs[p.Ref]
		if now == "" {
			now = zero
		}
		if now != p.After {
			continue
		}
		if p.Before != zero && p.After != zero {
			forward, err := f.contains(ctx, repo, p.After, p.Before)
			if err != nil {
				return nil, err
			}
			if !forward {
				p.Kind = "force_push"
			}
		}
		made = append(made, p)
	}
	return made, nil
}

// pusher is who moved the branch to the commit; 0 when that is not on record.
func (r repo) pusher(ref, sha string) int64 {
	for _, p := range slices.Backward(r.pushes) {
		if p.Ref == ref && p.After == sha {
			return p.Actor
		}
	}
	return 0
}

// at is where the branch was moved to last, as far as that is on record.
func (r repo) at(ref string) string {
	for _, p := range slices.Backward(r.pushes) {
		if p.Ref == ref {
			return p.After
		}
	}
	return ""
}

func listActivity(c *call) (int, any, error) {
	q := c.URL.Query()
	rows := c.repo.pushes.where(func(p push) bool {
		return (q.Get("ref") == "" || p.Ref == q.Get("ref") || p.Ref == "refs/heads/"+q.Get("ref")) &&
			(q.Get("activity_type") == "" || p.Kind == q.Get("activity_type"))
	})
	slices.Reverse(rows)
	v := c.view()
	return http.StatusOK, each(page(c, rows), func(p push) object {
		return object{
			"id": p.ID, "node_id": nodeID("Push", p.ID), "before": p.Before, "after": p.After, "ref": p.Ref,
			"timestamp": p.At, "activity_type": p.Kind, "actor": v.user(p.Actor),
		}
	}), nil
}
