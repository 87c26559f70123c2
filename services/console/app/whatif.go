package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/whatif"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

const (
	maxAgain     = 500              // instances that are decided again
	againIn      = 20 * time.Second // time that it may take
	againDefault = 30               // days
)

// whatIfPage is the data of the page that decides histories again.
type whatIfPage struct {
	frame
	Policy, Lifecycle string // as they were asked for
	Days              int
	Lifecycles        []string
	Asked             bool
	Wrong             string // why nothing was decided
	Result            view.WhatIf
	Elsewhere         int
	Differences       string
	Rows              []whatIfRow
	Left              int // instances that were not decided: there are too many, or it took too long
}

// whatIfRow is an instance that would have gone elsewhere, or may have.
type whatIfRow struct {
	ID, URL, Recorded, Instead, Tail string
	Seq                              uint64
}

// readPolicies reads values of policies, NAME=VALUE each, that stand between blanks or commas.
func readPolicies(text string) (map[string]string, error) {
	all := map[string]string{}
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' || r == '\t' }) {
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("%q is no value of a policy: write one such as confidence_threshold=0.95", one)
		}
		all[name] = value
	}
	return all, nil
}

// whatIf shows which instances would have gone elsewhere under other rules.
func (c *Console) whatIf(w http.ResponseWriter, r *http.Request, s *session) {
	q := r.URL.Query()
	p := whatIfPage{Policy: q.Get("policy"), Lifecycle: q.Get("lifecycle"), Days: againDefault, Asked: q.Get("policy")+q.Get("lifecycle") != ""}
	if n, err := strconv.Atoi(q.Get("days")); err == nil && n >= 0 && n <= 3650 {
		p.Days = n
	}
	_, all, err := c.cache.named(r.Context(), "issue")
	if err != nil {
		c.unanswered(w, r, s, err)
		return
	}
	if p.Lifecycles = all; p.Asked {
		if err := c.again(r.Context(), &p); err != nil {
			p.Wrong = sentence(err)
		}
	}
	p.frame = c.frame(s, "Other rules", "whatif")
	p.Live, p.Waiting = false, c.cache.waiting()
	c.pages.show(w, http.StatusOK, "whatif", p)
}

// again decides the histories again and adds the result to the page.
func (c *Console) again(ctx context.Context, p *whatIfPage) error {
	policy, err := readPolicies(p.Policy)
	if err != nil {
		return err
	}
	var def *workflow.Definition
	if p.Lifecycle != "" {
		if def, _, err = c.cache.named(ctx, p.Lifecycle); err != nil {
			return err
		}
	}
	change, err := whatif.NewChange(policy, def)
	if err != nil {
		return err
	}
	var ids []string
	since := c.now().AddDate(0, 0, -p.Days)
	rows := c.cache.snapshot().rows
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(b.Seq, a.Seq) })
	for _, one := range rows {
		if (p.Days == 0 || one.Entered.After(since)) && (def == nil || one.Workflow == def.Name) {
			ids = append(ids, one.ID)
		}
	}
	start := c.now()
	cases, err := c.decideAgain(ctx, ids[:min(len(ids), maxAgain)], change)
	if err != nil {
		return err
	}
	if len(cases) > 0 {
		if err := change.Unused(); err != nil {
			return err
		}
	}
	p.Left, p.Result = len(ids)-len(cases), view.NewWhatIf(cases, c.now().Sub(start))
	p.Elsewhere, p.Differences = len(p.Result.Cases)-p.Result.Unknown, p.Result.Differences()
	for _, one := range p.Result.Cases {
		row := whatIfRow{ID: one.Instance, Seq: one.Seq, Tail: view.Tail(one), Instead: "unknown: " + one.Unknown,
			URL: instanceURL(one.Instance) + "?" + url.Values{"seq": {fmt.Sprint(one.Seq)}}.Encode()}
		if one.Unknown == "" {
			row.Recorded, row.Instead = view.Landed(one.Recorded), view.Landed(one.Instead)
		}
		p.Rows = append(p.Rows, row)
	}
	return nil
}

// decideAgain returns the cases of those instances whose history could be read in time. One viewer at a
// time has it done.
func (c *Console) decideAgain(ctx context.Context, ids []string, change *whatif.Change) (cases []whatif.Case, err error) {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	ctx, cancel := context.WithTimeout(ctx, againIn)
	defer cancel()
	for _, id := range ids {
		one, err := c.decideOne(ctx, id, change)
		switch {
		case ctx.Err() != nil:
			return cases, nil
		case err != nil:
			return nil, err
		}
		cases = append(cases, one)
	}
	return cases, nil
}

// decideOne decides the history of one instance again.
func (c *Console) decideOne(ctx context.Context, id string, change *whatif.Change) (whatif.Case, error) {
	records, err := c.client.History(ctx, id, 0)
	if err != nil {
		return whatif.Case{}, err
	}
	run := whatif.New(id, change.Alter, func(hash string) (*workflow.Definition, bool) {
		def, err := c.cache.definition(ctx, view.Instance{Instance: id, Definition: hash})
		return def, err == nil
	})
	for _, commit := range view.Commits(records) {
		run.Add(commit)
	}
	return run.Case(), nil
}
