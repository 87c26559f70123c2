package instance

import (
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// raised matches a raise as people write it.
var raised = lazyregexp.New(`^\+(?:\$?([0-9]+(?:\.[0-9]+)?)|([0-9]+(?:\.[0-9]+)?)usd|([0-9]+)tokens)$`)

// ParseRaise reads a raise of a budget: +5usd, +$5, +5 or +200000tokens.
func ParseRaise(s string) (a RaiseBudget, err error) {
	m := raised.FindStringSubmatch(s)
	if m == nil {
		return a, fmt.Errorf("%q is no raise; want an amount such as +5usd or +200000tokens", s)
	}
	if m[3] != "" {
		a.Tokens, err = strconv.ParseInt(m[3], 10, 64)
	} else {
		a.USD, err = strconv.ParseFloat(m[1]+m[2], 64)
	}
	if err != nil {
		return a, fmt.Errorf("%q is too much", s)
	}
	return a, nil
}
