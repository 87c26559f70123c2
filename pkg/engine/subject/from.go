package subject

import (
	"fmt"
	"strings"
)

const (
	// root begins every subject of this package.
	root       = "sb."
	fromPrefix = root + "in."

	// maxAccount leaves room for a kind of party before a name.
	maxAccount = MaxName + 16
)

// From returns the subject on which a request of an account reaches the orchestrator's
// account. The account published it on s. The server maps one to the other by the import of
// that account, so the account's name in it is not the requester's to choose. The name "*"
// makes a filter of all accounts.
func From(account, s string) (string, error) {
	rest, ok := strings.CutPrefix(s, root)
	if !ok {
		return "", fmt.Errorf("%w: %.300q, want %s first", ErrInvalid, s, root)
	}
	if account != "*" {
		if err := checkName(account, maxAccount); err != nil {
			return "", err
		}
	}
	return fromPrefix + account + "." + rest, nil
}

// ParseFrom is the inverse of From for the name of one account.
func ParseFrom(s string) (account, published string, err error) {
	rest, ours := strings.CutPrefix(s, fromPrefix)
	account, rest, two := strings.Cut(rest, ".")
	if !ours || !two || rest == "" {
		return "", "", fmt.Errorf("%w: %.300q, want %sACCOUNT and more", ErrInvalid, s, fromPrefix)
	}
	return account, root + rest, checkName(account, maxAccount)
}
