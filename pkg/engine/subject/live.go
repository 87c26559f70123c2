package subject

import (
	"fmt"
	"strconv"
)

const livePrefix = root + "live."

// Live returns the subject on which the agent that has a claim answers with the output of its work so far. No stream captures it. The
// role is in the subject so that permissions can hold an agent to it.
func Live(role string, token uint64, instance string) (string, error) {
	if err := CheckName(role); err != nil {
		return "", err
	}
	if token == 0 {
		return "", fmt.Errorf("%w: no claim", ErrInvalid)
	}
	if err := CheckInstance(instance); err != nil {
		return "", err
	}
	return livePrefix + role + "." + strconv.FormatUint(token, 10) + "." + Escape(instance), nil
}

// LivesOf returns the filter of Live for all claims of a role.
func LivesOf(role string) (string, error) {
	if err := CheckName(role); err != nil {
		return "", err
	}
	return livePrefix + role + ".*.*", nil
}
