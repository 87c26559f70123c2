package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/tally"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Cost is one line of `costs`.
type Cost struct {
	Name      string  `json:"name"` // of a repository, role, brain, state, day or instance
	TokensIn  int64   `json:"tokens_in"`
	TokensOut int64   `json:"tokens_out"`
	USD       float64 `json:"usd"`
	WallMS    int64   `json:"wall_ms"`
	Steps     int64   `json:"steps"`
	Unmetered int64   `json:"unmetered"` // steps that reported no tokens: rules, and programs whose cost is unknown
}

// Costs sums what steps cost.
type Costs struct {
	by    string
	since time.Time
	named map[string]*Cost
}

// NewCosts sums by repo, role, brain, state, day or instance what was spent since then.
func NewCosts(by string, since time.Time) *Costs { return &Costs{by, since, map[string]*Cost{}} }

// Add adds the history of an instance.
func (c *Costs) Add(id string, records []*pb.Record) {
	sums := tally.New()
	sums.Since = c.since
	for i, commit := range Commits(records) {
		sums.Add(id, records[i].GetWorkflow(), strings.TrimPrefix(records[i].GetState(), "@"), commit)
	}
	for k, s := range sums.By(func(k tally.Key) (tally.Key, bool) { return k, true }) {
		c.add(map[string]string{"repo": k.Repo, "role": k.Role, "state": k.State, "day": k.Day, "brain": k.Brain, "instance": id}[c.by], Cost{
			TokensIn: s.TokensIn, TokensOut: s.TokensOut, USD: s.USD, WallMS: s.WallMS, Steps: s.Steps, Unmetered: s.Unmetered})
	}
}

// Take adds sums of the orchestrator, which have what is summed by and nothing else.
func (c *Costs) Take(sums []*pb.CostSum) {
	for _, s := range sums {
		c.add(cmp.Or(s.GetRepo(), s.GetRole(), s.GetState(), s.GetDay(), s.GetBrain(), "none"), Cost{
			TokensIn: s.GetTokensIn(), TokensOut: s.GetTokensOut(), USD: s.GetUsd(), WallMS: s.GetWallMs(), Steps: s.GetSteps(), Unmetered: s.GetUnmetered()})
	}
}

// add adds a cost to the line of a name.
func (c *Costs) add(name string, of Cost) {
	line := c.named[name]
	if line == nil {
		line = &Cost{Name: name}
		c.named[name] = line
	}
	line.TokensIn, line.TokensOut, line.USD = line.TokensIn+of.TokensIn, line.TokensOut+of.TokensOut, line.USD+of.USD
	line.WallMS, line.Steps, line.Unmetered = line.WallMS+of.WallMS, line.Steps+of.Steps, line.Unmetered+of.Unmetered
}

// Raised is an amount of a budget in words: "$5.00" or "200000 tokens".
func Raised(usd float64, tokens int64) string {
	var parts []string
	if usd > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", usd))
	}
	if tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", tokens))
	}
	return strings.Join(parts, " and ")
}

// RaisedDay is an amount of a day's budget in words, such as "$5.00" or "2h".
func RaisedDay(usd float64, tokens, wallMS int64) string {
	if wallMS > 0 {
		return term.Duration(millis(wallMS))
	}
	return Raised(usd, tokens)
}

// Lines returns the sums: days in their order, the rest by money, then by tokens.
func (c *Costs) Lines() []Cost {
	var all []Cost
	for _, line := range c.named {
		all = append(all, *line)
	}
	slices.SortFunc(all, func(a, b Cost) int {
		if c.by == "day" {
			return strings.Compare(a.Name, b.Name)
		}
		return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.TokensIn+b.TokensOut, a.TokensIn+a.TokensOut), natural(a.Name, b.Name))
	})
	return all
}

// Print prints the sums, and what they come to.
func (c *Costs) Print(env *term.Env) error {
	all := c.Lines()
	if env.JSON {
		for _, line := range all {
			if err := env.Print(line); err != nil {
				return err
			}
		}
		return nil
	}
	t := env.Table(c.by, "usd", "tokens in", "tokens out", "time", "steps", "unmetered")
	sum := NewCosts(c.by, c.since)
	for _, line := range all {
		t.Row(line.cells()...)
		sum.add("all", line)
	}
	if len(all) > 1 {
		t.Row(sum.named["all"].cells()...)
	}
	return t.Print()
}

func (l Cost) cells() []any {
	usd := ""
	if l.USD > 0 {
		usd = fmt.Sprintf("$%.2f", l.USD)
	}
	return []any{term.Cell{Style: term.Bold, Text: l.Name}, usd, l.TokensIn, l.TokensOut,
		term.Duration(millis(l.WallMS)), l.Steps, l.Unmetered}
}
