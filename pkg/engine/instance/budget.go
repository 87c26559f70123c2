package instance

import (
	"math"
	"strings"
)

// BudgetSpent begins the reason of an escalation that asks people for more budget.
// RaiseBudget resolves those.
const BudgetSpent = "The budget is spent: "

// RaiseBudget lets an instance cost more. Of the two, one may be 0.
type RaiseBudget struct {
	USD    float64
	Tokens int64
}

// BudgetRaised lets an instance cost more than its policy says.
type BudgetRaised struct {
	USD    float64
	Tokens int64
	By     string
}

func (e BudgetRaised) apply(in *Instance, _ Commit) {
	in.Raised.USD, in.Raised.Tokens = in.Raised.USD+e.USD, in.Raised.Tokens+e.Tokens
}

// Raise is by how much people have raised a budget.
type Raise struct {
	USD    float64
	Tokens int64
}

// decide records the raise, and resolves the escalation that waits for it.
func (a RaiseBudget) decide(d *decision) error {
	if err := d.fromPeople("raise a budget"); err != nil {
		return err
	}
	const most = 1e6 // of dollars; more is a slip
	if a.Tokens < 0 || a.Tokens > math.MaxUint32 || !(a.USD >= 0 && a.USD <= most) || a.USD == 0 && a.Tokens == 0 {
		return d.refuse(CodeInvalid, nil, "want an amount above zero, of dollars or tokens, and no more than %.0f dollars or %d tokens", most, uint32(math.MaxUint32))
	}
	if a.Tokens == 0 && !d.bounds("budget_usd") && d.bounds("budget_tokens") {
		return d.refuse(CodeInvalid, nil, "its budget is of tokens alone, which dollars do not raise; want an amount such as +200000tokens")
	}
	d.record(BudgetRaised{a.USD, a.Tokens, d.cmd.Actor})
	if e, held := d.in.Escalation(); held && strings.HasPrefix(e.Reason, BudgetSpent) {
		return Resolve{Number: e.Number, Text: "the budget was raised"}.decide(d)
	}
	return nil
}

// bounds reports whether a policy sets a budget.
func (d *decision) bounds(policy string) bool {
	switch most := d.def.Policy[policy].(type) {
	case float64:
		return most > 0
	case int64:
		return most > 0
	}
	return false
}
