package standing

import "testing"

func TestARaiseIsOfTheKindOfTheBudgetThatIsSpent(t *testing.T) {
	for reason, want := range map[string]string{
		"the budget repo=acme/widgets,day=5usd is spent: $5.50 of $5.00": "+5usd",
		"the budget day=8h0m0s is spent: 8h0m0s of 8h0m0s":               "+2h",
		"the budget day=10tokens is spent: 10 of 10 tokens":              "+200000tokens",
		"today's costs are being read":                                   "+5usd",
	} {
		if got := raise(reason); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
}
