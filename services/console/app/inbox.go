package app

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// perInbox is how many instances a page of the inbox has.
const perInbox = 20

// inboxPage is the data of the inbox.
type inboxPage struct {
	frame
	Items      []item
	Total      int
	Prev, Next string
	Paused     []boardRow // nobody works on them until a person resumes them
	Loading    bool
}

// item is an instance that waits for people.
type item struct {
	Row   boardRow
	Why   string
	Links []choice
	Forms forms
}

// waitsFor returns the rows that wait for people and those that are paused, oldest first.
func waitsFor(all []*row) (waits, paused []*row) {
	for _, r := range all {
		switch {
		case r.Waits:
			waits = append(waits, r)
		case r.Paused && r.Closed == "":
			paused = append(paused, r)
		}
	}
	oldest := func(a, b *row) int { return cmp.Or(a.Entered.Compare(b.Entered), strings.Compare(a.ID, b.ID)) }
	slices.SortFunc(waits, oldest)
	slices.SortFunc(paused, oldest)
	return waits, paused
}

// inbox shows all that waits for people.
func (c *Console) inbox(w http.ResponseWriter, r *http.Request, s *session) {
	c.showInbox(w, r, s, refusal{})
}

// showInbox shows the inbox, with a form that was refused, if one was.
func (c *Console) showInbox(w http.ResponseWriter, r *http.Request, s *session, no refusal) {
	snap := c.cache.snapshot()
	waits, paused := waitsFor(snap.rows)
	p := inboxPage{frame: c.frame(s, "Inbox", "inbox"), Total: len(waits), Loading: !snap.loaded}
	p.Seq, p.Waiting, p.Refused = snap.seq, len(waits), no.Why
	page, _ := strconv.Atoi(r.URL.Query().Get(keyPage))
	page = max(0, min(page-1, (len(waits)-1)/perInbox))
	from, to := page*perInbox, min((page+1)*perInbox, len(waits))
	if from > 0 {
		p.Prev = "/inbox?page=" + strconv.Itoa(page)
	}
	if to < len(waits) {
		p.Next = "/inbox?page=" + strconv.Itoa(page+2)
	}
	for _, one := range waits[from:to] {
		made, err := c.item(r.Context(), *one, p.Reads, no)
		if err != nil {
			c.unanswered(w, r, s, err)
			return
		}
		p.Items = append(p.Items, made)
	}
	for _, one := range paused[:min(len(paused), perInbox)] {
		b := boardRow{row: *one, URL: instanceURL(one.ID), Look: one.look()}
		if in, err := c.cache.get(r.Context(), one.ID); err == nil {
			b.Why = whyOf(c.env(), in)
		}
		p.Paused = append(p.Paused, b)
	}
	c.pages.show(w, cmp.Or(no.Status, http.StatusOK), "inbox", p)
}

func (c *Console) item(ctx context.Context, r row, reads bool, no refusal) (item, error) {
	in, err := c.cache.get(ctx, r.ID)
	if err != nil {
		return item{}, err
	}
	def, err := c.cache.definition(ctx, in)
	if err != nil {
		def = nil // its forms are shown without those that the lifecycle adds
	}
	return item{Row: boardRow{row: r, URL: instanceURL(r.ID), Look: r.look(), Late: r.late(c.now())}, Why: whyOf(c.env(), in),
		Links: forgeLinks(in), Forms: makeForms(in, def, "/inbox", reads, no)}, nil
}
