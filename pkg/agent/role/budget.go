package role

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// budget is what an instance may cost, and what it has. A limit of 0 is none.
type budget struct {
	usd    float64
	tokens int64
	spent  instance.Cost
}

// budgetOf reads the policies budget_usd and budget_tokens, and what people raised them by.
func budgetOf(policy map[string]any, raised instance.Raise, spent instance.Cost) budget {
	b := budget{spent: spent}
	text := func(name string) string { return strings.TrimSpace(fmt.Sprint(policy[name])) }
	if usd, err := strconv.ParseFloat(text("budget_usd"), 64); err == nil && usd > 0 {
		b.usd = usd + raised.USD
	}
	if tokens, err := strconv.ParseFloat(text("budget_tokens"), 64); err == nil && tokens > 0 {
		b.tokens = int64(tokens) + raised.Tokens
	}
	return b
}

// budget is that of the step's instance.
func (s step) budget() budget { return budgetOf(s.job.Policy, s.job.Raised, s.job.Spent) }

// with returns the budget after more was spent.
func (b budget) with(c instance.Cost) budget {
	b.spent = b.spent.Add(c)
	return b
}

// uses returns the part of the budget that is spent; 1 is all of it.
func (b budget) uses() float64 {
	part := 0.0
	if b.usd > 0 {
		part = b.spent.USD / b.usd
	}
	if b.tokens > 0 {
		part = max(part, float64(b.spent.TokensIn+b.spent.TokensOut)/float64(b.tokens))
	}
	return part
}

// err returns a brain.ErrBudget if all is spent.
func (b budget) err() error {
	if b.uses() < 1 {
		return nil
	}
	return fmt.Errorf("%w: %s", brain.ErrBudget, b)
}

// String returns the spent part of the budget.
func (b budget) String() string {
	var parts []string
	if b.usd > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f of $%.2f", b.spent.USD, b.usd))
	}
	if b.tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tokens", b.spent.TokensIn+b.spent.TokensOut, b.tokens))
	}
	return strings.Join(parts, ", ")
}

// warnAt is the part of a budget at which people get a warning.
const warnAt = 0.8

// affordable asks people for more budget, by an *agent.ErrEscalate, if all is spent and the brain
// costs something.
func (s *step) affordable(ctx context.Context) error {
	b := s.budget()
	if s.free || b.err() == nil {
		return nil
	}
	return &agent.ErrEscalate{Reason: s.more(ctx, b, instance.Cost{}).Reason, RequiresHuman: true}
}

// more asks people for more budget, and says what it was spent on. unrecorded is what the
// step cost that the log does not have yet.
func (s *step) more(ctx context.Context, b budget, unrecorded instance.Cost) *brain.Escalation {
	raise := "+5usd"
	if b.usd == 0 || b.spent.USD < b.usd { // it is the tokens that are spent
		raise = fmt.Sprintf("+%dtokens", b.tokens)
	}
	return &brain.Escalation{RequiresHuman: true, Reason: fmt.Sprintf(
		"%s%s. %s`signalbox budget %s %s` raises it and lets the work go on.", instance.BudgetSpent, b, s.spentOn(ctx, unrecorded), s.job.Instance, raise)}
}

// spentOn says by role and brain what the instance spent, "" if that cannot be read.
func (s *step) spentOn(ctx context.Context, unrecorded instance.Cost) string {
	if s.job.Shares == nil {
		return ""
	}
	shares, err := s.job.Shares(ctx)
	if err != nil {
		s.job.Progress("the cost so far is not known: %s", oneLine(err.Error()))
		return ""
	}
	var all []string
	for _, share := range work.AddShare(shares, s.job.Role, unrecorded) {
		all = append(all, share.String())
	}
	return "It was spent on: " + strings.Join(all, "; ") + ". "
}
