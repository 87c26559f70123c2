package instance

// Spend records a cost under the claim, before its result.
type Spend struct {
	Token uint64
	Spend Cost
}

// Spent records a cost outside a result.
type Spent struct{ Spend Cost }

func (e Spent) apply(in *Instance, _ Commit) {
	in.Spend = in.Spend.with(e.Spend)
}

func (a Spend) decide(d *decision) error {
	if err := d.checkClaim(a.Token); err != nil {
		return err
	}
	if !a.Spend.valid() {
		return d.refuse(CodeInvalid, nil, "a cost is a number that is not below zero")
	}
	d.record(Spent{a.Spend})
	return nil
}
