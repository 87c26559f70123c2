package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/tally"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Cost is one line of `costs`.
type Cost struct {
	Name      string  `json:"name"` // of a repository, role, brain, state, day or instance
	TokensIn  int64   `json:"tokens_in"`
	TokensOut int64   `json:"tokens_out"`
	USD       float64 `json:"usd"`
	WallMS    int64   `json:"wall_ms"`
	Steps     int     `json:"steps"`
	Unmetered int     `json:"unmetered"` // steps that reported no tokens: rules, and programs whose cost is unknown
}

// Costs sums what steps cost.
type Costs struct {
	by    string
	since time.Time
	named map[string]*Cost
}

// NewCosts sums by repo, role, brain, state, day or instance what was spent since then.
func NewCosts(by string, since time.Time) *Costs { return &Costs{by, since, map[string]*Cost{}} }

// Add adds all of an instance. Spending before a result counts where it was claimed.
func (c *Costs) Add(id string, commits []instance.Commit) {
	in := instance.Instance{ID: id}
	role, state, metered := "", "", false
	for _, commit := range commits {
		before := in.State
		in = instance.Evolve(in, commit)
		for _, e := range commit.Events {
			var spend instance.Cost
			steps := 0
			switch e := e.(type) {
			case instance.Claimed:
				role, state, metered = e.Role, cmp.Or(in.State, before), false
				continue
			case instance.Spent:
				spend = e.Spend
			case instance.Reported:
				role, state, spend, steps = e.Role, e.State, e.Result.Spend, 1
			default:
				continue
			}
			if commit.At.Before(c.since) {
				continue
			}
			metered = metered || spend.TokensIn+spend.TokensOut > 0
			line := c.line(map[string]string{"repo": repoOf(in), "role": role, "state": state, "day": commit.At.UTC().Format(time.DateOnly),
				"instance": id, "brain": cmp.Or(spend.Brain, tally.NotReported)}[c.by])
			line.TokensIn, line.TokensOut = line.TokensIn+spend.TokensIn, line.TokensOut+spend.TokensOut
			line.USD, line.WallMS, line.Steps = line.USD+spend.USD, line.WallMS+spend.WallMS, line.Steps+steps
			if steps > 0 && !metered {
				line.Unmetered++
			}
		}
	}
}

func (c *Costs) line(name string) *Cost {
	if c.named[name] == nil {
		c.named[name] = &Cost{Name: name}
	}
	return c.named[name]
}

// repoOf returns the repository of an instance; of one that is on no forge, what its name
// begins with.
func repoOf(in instance.Instance) string {
	if in.Issue.Repo != "" {
		return in.Issue.Repo
	}
	if i := strings.LastIndexByte(in.ID, '/'); i > 0 {
		return in.ID[:i]
	}
	return in.ID
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
	sum := Cost{Name: "all"}
	for _, line := range all {
		t.Row(line.cells()...)
		sum.TokensIn, sum.TokensOut, sum.USD = sum.TokensIn+line.TokensIn, sum.TokensOut+line.TokensOut, sum.USD+line.USD
		sum.WallMS, sum.Steps, sum.Unmetered = sum.WallMS+line.WallMS, sum.Steps+line.Steps, sum.Unmetered+line.Unmetered
	}
	if len(all) > 1 {
		t.Row(sum.cells()...)
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
