package brain

import (
	"errors"
	"time"
)

// ErrInfrastructure marks a fault outside the work: a network, a disk, a usage
// limit. The step is tried again and no attempt is spent.
var ErrInfrastructure = errors.New("infrastructure fault")

// ErrUnusable marks a brain that cannot work until a person changes something: a login, a
// name, a payment. People are asked at once, and nothing is tried again.
var ErrUnusable = errors.New("the brain cannot be used")

// ErrBudget means that nothing more may be spent on the work.
var ErrBudget = errors.New("the budget is spent")

// SpentError is an ErrBudget of a budget that is not the instance's alone, such as a day's:
// people are not asked, and the work goes on when that permits it.
type SpentError struct{ Why string }

func (e *SpentError) Error() string { return e.Why }

func (e *SpentError) Unwrap() error { return ErrBudget }

// LaterError is an infrastructure fault that is over at a time that is known, such as a
// usage limit.
type LaterError struct {
	Until time.Time
	Err   error
}

func (e *LaterError) Error() string {
	return e.Err.Error() + "; it can work again at " + e.Until.UTC().Format(time.DateTime) + " UTC"
}

func (e *LaterError) Unwrap() error { return e.Err }
