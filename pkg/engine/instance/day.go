package instance

import "time"

// DayBudget is what may be spent in a day (UTC) for a repository. One amount is above
// zero.
type DayBudget struct {
	Role   string  `json:"role,omitempty"` // only by this role; empty: by any
	USD    float64 `json:"usd,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
	WallMS int64   `json:"wall_ms,omitempty"` // of steps
}

// RaiseDay lets this day (UTC) cost more than a budget of a day says. One amount is above
// zero. The budgets are named by the engine, or by who gives the command.
type RaiseDay struct {
	Budgets []string
	USD     float64
	Tokens  int64
	WallMS  int64
}

// DayRaised lets the day of its commit cost more than a budget says. It changes nothing of
// the instance, for whose work it was raised.
type DayRaised struct {
	Budget string
	USD    float64
	Tokens int64
	WallMS int64
	By     string
}

func (DayRaised) apply(*Instance, Commit) {}

// Bounds of a raise; more is a slip.
const (
	maxRaisedUSD    = 1e6
	maxRaisedTokens = 1e12
	maxRaisedWallMS = int64(10000 * time.Hour / time.Millisecond)
)

// decide records the raise of each budget.
func (a RaiseDay) decide(d *decision) error {
	if err := d.fromPeople("raise a budget"); err != nil {
		return err
	}
	given := 0
	for _, above := range []bool{a.USD > 0, a.Tokens > 0, a.WallMS > 0} {
		if above {
			given++
		}
	}
	if given != 1 || !(a.USD >= 0 && a.USD <= maxRaisedUSD) || a.Tokens < 0 || a.Tokens > maxRaisedTokens || a.WallMS < 0 || a.WallMS > maxRaisedWallMS {
		return d.refuse(CodeInvalid, nil, "want one amount above zero, and no more than %.0f dollars, %.0f tokens or 10000 hours", maxRaisedUSD, maxRaisedTokens)
	}
	if len(a.Budgets) == 0 {
		return d.refuse(CodeInvalid, nil, "a raise names a budget")
	}
	for _, b := range a.Budgets {
		d.record(DayRaised{b, a.USD, a.Tokens, a.WallMS, d.cmd.Actor})
	}
	return nil
}
