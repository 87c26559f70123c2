package role

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// ForRole returns those of a flag's values that are for a role: ROLE=VALUE, without ROLE, and
// VALUE, which is for all roles. Hosts and names of variables have no "=".
func ForRole(values []string, role string) []string {
	var own []string
	for _, v := range values {
		name, rest, scoped := strings.Cut(v, "=")
		if !scoped {
			own = append(own, v)
		} else if name == role {
			own = append(own, rest)
		}
	}
	return own
}

// checkScopes refuses values for roles that are not there.
func (s Settings) checkScopes(roles []string) error {
	for flag, values := range map[string][]string{"--egress": s.Egress, "--brain-env": s.Env} {
		for _, v := range values {
			name, rest, scoped := strings.Cut(v, "=")
			switch {
			case !scoped:
			case rest == "" || strings.Contains(rest, "="):
				return fmt.Errorf("%s %s: want ROLE=VALUE or VALUE; no value of a variable is written here", flag, name)
			case !slices.Contains(roles, name):
				if meant := workflow.Nearest(name, roles); meant != "" {
					return fmt.Errorf("%s %s: there is no role %s here; did you mean %s?", flag, v, name, meant)
				}
				return fmt.Errorf("%s %s: there is no role %s here; want one of %s", flag, v, name, strings.Join(roles, ", "))
			}
		}
	}
	return nil
}

// scope returns the settings with the values for one role.
func (s Settings) scope(role string) Settings {
	s.Env, s.Egress = ForRole(s.Env, role), ForRole(s.Egress, role)
	return s
}
