package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

const (
	maxCosts   = 200 // rows of the page
	usualSince = 7   // days that it shows by default
)

// costKey is what costs can be summed by, and the part of a sum that has it.
type costKey struct {
	name, text string
	of         func(*pb.CostSum) string
}

var costBy = []costKey{
	{"repo", "Repository", (*pb.CostSum).GetRepo}, {"role", "Role", (*pb.CostSum).GetRole}, {"brain", "Brain", (*pb.CostSum).GetBrain},
	{"day", "Day", (*pb.CostSum).GetDay}, {"workflow", "Lifecycle", (*pb.CostSum).GetWorkflow}, {"state", "State", (*pb.CostSum).GetState},
}

// costPage is the data of the page of costs.
type costPage struct {
	frame
	By, Heading string
	Bys, Spans  []choice
	Rows        []costRow
	All         costRow
	More        int  // rows that the page has no room for
	Reading     bool // the sums are too low
	Ignored     string
}

// costRow is a line of the page. Bar is its part of the dearest, in percent.
type costRow struct {
	Name, USD, Tokens, Time, Median string
	Steps, Failed, Unmetered        int64
	Bar                             string
}

// spans are the days that the page can show; 0 shows all.
var spans = []struct {
	days int
	text string
}{{1, "today"}, {7, "7 days"}, {30, "30 days"}, {0, "all"}}

// makeCosts makes the page of costs.
func makeCosts(reply *pb.CostsReply, by string, days int) costPage {
	p := costPage{By: by, Reading: reply.GetReading(), All: costRow{Name: "All"}}
	name := costBy[0].of
	for _, one := range costBy {
		p.Bys = append(p.Bys, choice{Text: one.text, URL: costURL(one.name, days), Chosen: one.name == by})
		if one.name == by {
			name, p.Heading = one.of, one.text
		}
	}
	for _, one := range spans {
		p.Spans = append(p.Spans, choice{Text: one.text, URL: costURL(by, one.days), Chosen: one.days == days})
	}
	sums := slices.Clone(reply.GetSums())
	if by == "day" {
		slices.SortFunc(sums, func(a, b *pb.CostSum) int { return strings.Compare(b.GetDay(), a.GetDay()) })
	}
	all, most := &pb.CostSum{}, 0.0
	size := func(s *pb.CostSum) float64 { return s.GetUsd() }
	if !slices.ContainsFunc(sums, func(s *pb.CostSum) bool { return s.GetUsd() > 0 }) {
		size = func(s *pb.CostSum) float64 { return float64(s.GetWallMs()) }
	}
	for _, s := range sums {
		all.Usd, all.TokensIn, all.TokensOut, all.WallMs = all.Usd+s.GetUsd(), all.TokensIn+s.GetTokensIn(), all.TokensOut+s.GetTokensOut(), all.WallMs+s.GetWallMs()
		all.Steps, all.Failed, all.Unmetered = all.Steps+s.GetSteps(), all.Failed+s.GetFailed(), all.Unmetered+s.GetUnmetered()
		most = max(most, size(s))
	}
	for _, s := range sums[:min(len(sums), maxCosts)] {
		row := costRowOf(s, cmp.Or(name(s), "none"))
		if most > 0 {
			row.Bar = fmt.Sprintf("%.1f", 100*size(s)/most)
		}
		p.Rows = append(p.Rows, row)
	}
	p.More = len(sums) - len(p.Rows)
	p.All = costRowOf(all, "All")
	p.All.Median = ""
	return p
}

func costRowOf(s *pb.CostSum, name string) costRow {
	r := costRow{Name: name, Steps: s.GetSteps(), Failed: s.GetFailed(), Unmetered: s.GetUnmetered(), Time: term.Duration(time.Duration(s.GetWallMs()) * time.Millisecond)}
	if s.GetUsd() > 0 {
		r.USD = fmt.Sprintf("$%.2f", s.GetUsd())
	}
	if s.GetTokensIn()+s.GetTokensOut() > 0 {
		r.Tokens = fmt.Sprintf("%d in, %d out", s.GetTokensIn(), s.GetTokensOut())
	}
	if s.GetMedianMs() > 0 {
		r.Median = term.Duration(time.Duration(s.GetMedianMs()) * time.Millisecond)
	}
	return r
}

func costURL(by string, days int) string {
	q := url.Values{}
	if by != costBy[0].name {
		q.Set("by", by)
	}
	if days != usualSince {
		q.Set("days", strconv.Itoa(days))
	}
	return (&url.URL{Path: "/costs", RawQuery: q.Encode()}).String()
}

// readCosts reads what a query asks for, and returns the keys and values that it does not know.
func readCosts(q url.Values) (by string, days int, ignored []string) {
	by, days = costBy[0].name, usualSince
	for _, key := range slices.Sorted(maps.Keys(q)) {
		n, err := strconv.Atoi(q.Get(key))
		switch {
		case key == "by" && slices.ContainsFunc(costBy, func(b costKey) bool { return b.name == q.Get(key) }):
			by = q.Get(key)
		case key == "days" && err == nil && n >= 0 && n <= 3650:
			days = n
		default:
			ignored = append(ignored, key)
		}
	}
	return by, days, ignored
}

// costsSince asks for the sums of the newest days; 0 asks for all.
func (c *Console) costsSince(by string, days int) func(context.Context) (*pb.CostsReply, error) {
	q := &pb.CostsRequest{By: []string{by}}
	if days > 0 {
		q.Since = c.now().UTC().AddDate(0, 0, 1-days).Format(time.DateOnly)
	}
	return func(ctx context.Context) (*pb.CostsReply, error) { return c.client.Costs(ctx, q) }
}

// costs shows what steps cost.
func (c *Console) costs(w http.ResponseWriter, r *http.Request, s *session) {
	by, days, ignored := readCosts(r.URL.Query())
	reply, err := c.spent.of(by+" "+strconv.Itoa(days)).get(r.Context(), c.costsSince(by, days))
	if err != nil {
		c.unanswered(w, r, s, err)
		return
	}
	p := makeCosts(reply, by, days)
	p.frame, p.Ignored = c.frame(s, "Costs", "costs"), strings.Join(ignored, ", ")
	p.Seq, p.Waiting = c.cache.newest(""), c.cache.waiting()
	c.pages.show(w, http.StatusOK, "costs", p)
}
