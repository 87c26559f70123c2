package subject

import "strings"

// The server's advisories about work it gave up on: together the dead letters.
const (
	// MaxDeliveries announces a commit that was delivered too often.
	MaxDeliveries = maxDeliveries + "*"
	// Terminated announces a commit that a consumer refused for good.
	Terminated = terminated + "*"

	advisory      = "$JS.EVENT.ADVISORY.CONSUMER."
	maxDeliveries = advisory + "MAX_DELIVERIES." + EventStream + "."
	terminated    = advisory + "MSG_TERMINATED." + EventStream + "."
)

// ParseDead returns the consumer, that is the role, that a dead letter's
// subject names, and whether the role itself refused the work.
func ParseDead(s string) (role string, refused bool, err error) {
	prefix := maxDeliveries
	if strings.HasPrefix(s, terminated) {
		prefix, refused = terminated, true
	}
	t, err := cut(s, prefix, 1)
	if err != nil {
		return "", false, err
	}
	return t[0], refused, CheckName(t[0])
}
