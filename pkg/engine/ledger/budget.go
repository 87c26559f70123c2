// Package ledger sums what a day's work cost, and says whose budget is spent.
package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Budget is what may be spent in a day (UTC). Of the amounts one is above zero.
type Budget struct {
	Repo string // of these repositories alone, such as acme/widgets or acme/*; empty: of all
	Role string // by this role alone; empty: by all

	USD    float64
	Tokens int64
	Wall   time.Duration // of steps
}

// amount is what a day may cost: money or tokens; else it is a duration.
var amount = lazyregexp.New(`^(?:\$([0-9]+(?:\.[0-9]+)?)|([0-9]+(?:\.[0-9]+)?)usd|([0-9]+)tokens)$`)

// Parse parses a budget such as "repo=acme/widgets,day=20usd" or "role=developer,day=8h".
func Parse(text string) (Budget, error) {
	var b Budget
	said := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found || value == "" || said[key] {
			return b, wrong(text)
		}
		said[key] = true
		switch key {
		case "repo":
			if err := instance.CheckRepositories(value); err != nil {
				return b, fmt.Errorf("%w: %w", wrong(text), err)
			}
			b.Repo = value
		case "role":
			b.Role = value
		case "day":
			if !b.parseAmount(value) {
				return b, wrong(text)
			}
		default:
			return b, wrong(text)
		}
	}
	if !said["day"] {
		return b, wrong(text)
	}
	return b, nil
}

func wrong(text string) error {
	return fmt.Errorf("%q is no budget; want [repo=OWNER/NAME,][role=ROLE,]day=AMOUNT, with an amount such as 20usd, 500000tokens or 8h", text)
}

// parseAmount parses what a day may cost; ok is false unless that is above zero.
func (b *Budget) parseAmount(text string) (ok bool) {
	m := amount.FindStringSubmatch(text)
	var err error
	switch {
	case m == nil:
		b.Wall, err = time.ParseDuration(text)
	case m[3] != "":
		b.Tokens, err = strconv.ParseInt(m[3], 10, 64)
	default:
		b.USD, err = strconv.ParseFloat(m[1]+m[2], 64)
	}
	return err == nil && (b.USD > 0 || b.Tokens > 0 || b.Wall > 0)
}

// String returns the budget as Parse takes it.
func (b Budget) String() string {
	var parts []string
	if b.Repo != "" {
		parts = append(parts, "repo="+b.Repo)
	}
	if b.Role != "" {
		parts = append(parts, "role="+b.Role)
	}
	return strings.Join(append(parts, "day="+b.limit()), ",")
}

func (b Budget) limit() string {
	switch {
	case b.USD > 0:
		return strconv.FormatFloat(b.USD, 'f', -1, 64) + "usd"
	case b.Tokens > 0:
		return strconv.FormatInt(b.Tokens, 10) + "tokens"
	}
	return b.Wall.String()
}

// raisedBy returns the budget with what it was raised by; it has the name of no budget.
func (b Budget) raisedBy(r instance.Cost) Budget {
	b.USD, b.Tokens, b.Wall = b.USD+r.USD, b.Tokens+r.TokensIn, b.Wall+time.Duration(r.WallMS)*time.Millisecond
	return b
}

// Unit returns an amount of the budget's kind, as ParseRaise takes it.
func (b Budget) Unit() string {
	switch {
	case b.USD > 0:
		return "+5usd"
	case b.Tokens > 0:
		return "+200000tokens"
	}
	return "+2h"
}

// ParseRaise reads a raise of a day's budget: +5usd, +5, +$5, +500000tokens or +2h.
func ParseRaise(text string) (instance.RaiseDay, error) {
	var b Budget
	amount, found := strings.CutPrefix(text, "+")
	if usd, err := strconv.ParseFloat(amount, 64); err == nil && amount[0] >= '0' && amount[0] <= '9' {
		b.USD = usd
	} else if !b.parseAmount(amount) {
		found = false
	}
	if !found || b.USD == 0 && b.Tokens == 0 && b.Wall < time.Millisecond {
		return instance.RaiseDay{}, fmt.Errorf("%q is no raise of a day's budget; want an amount such as +5usd, +500000tokens or +2h", text)
	}
	return instance.RaiseDay{USD: b.USD, Tokens: b.Tokens, WallMS: b.Wall.Milliseconds()}, nil
}

// covers reports whether what a role spends for a repository counts.
func (b Budget) covers(repo, role string) bool {
	in := b.Repo == "" || b.Repo == repo || instance.InRepositories(b.Repo, repo)
	return in && (b.Role == "" || b.Role == role)
}

// uses returns the part of the budget that a cost is; 1 is all of it.
func (b Budget) uses(c instance.Cost) float64 {
	switch {
	case b.USD > 0:
		return c.USD / b.USD
	case b.Tokens > 0:
		return float64(c.TokensIn+c.TokensOut) / float64(b.Tokens)
	}
	return float64(c.WallMS) / float64(b.Wall.Milliseconds())
}

// of returns the part of the budget that a cost is.
func (b Budget) of(c instance.Cost) string {
	switch {
	case b.USD > 0:
		return fmt.Sprintf("$%.2f of $%.2f", c.USD, b.USD)
	case b.Tokens > 0:
		return fmt.Sprintf("%d of %d tokens", c.TokensIn+c.TokensOut, b.Tokens)
	}
	return fmt.Sprintf("%s of %s", (time.Duration(c.WallMS) * time.Millisecond).Round(min(time.Second, b.Wall/100)), b.Wall)
}
