package dispatch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Limit is how much work may be under way at a time in the repositories that it names.
type Limit struct {
	Repo string // pattern, such as acme/* or */*; empty: any, also none
	instance.Limit
}

// ParseLimit reads a limit as an operator writes it: KEY=VALUE[,…]:N, where the keys are
// repo, state and role, or N alone.
func ParseLimit(text string) (Limit, error) {
	of, number, found := text[:max(strings.LastIndex(text, ":"), 0)], text[strings.LastIndex(text, ":")+1:], strings.Contains(text, ":")
	wrong := fmt.Errorf("limit %q: want repo=OWNER/NAME,state=STATE,role=ROLE:N, each of them once at most", text)
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || found && of == "" {
		return Limit{}, wrong
	}
	l := Limit{Limit: instance.Limit{AtOnce: n}}
	for pair := range strings.SplitSeq(of, ",") {
		key, value, _ := strings.Cut(pair, "=")
		to := map[string]*string{"repo": &l.Repo, "state": &l.State, "role": &l.Role}[key]
		if !found {
			break
		}
		if to == nil || *to != "" || value == "" {
			return Limit{}, wrong
		}
		*to = value
	}
	if l.Repo == "" {
		return l, nil
	}
	if err := instance.CheckRepositories(l.Repo); err != nil {
		return Limit{}, fmt.Errorf("%w: %w", wrong, err)
	}
	return l, nil
}

// String is the limit for people.
func (l Limit) String() string {
	if l.Repo == "" {
		return l.Limit.String()
	}
	return l.Limit.String() + " of " + l.Repo
}

// exactly returns the pattern that only one repository matches, or none if its name has a
// character of patterns: names of repositories have none.
func exactly(repo string) string {
	if strings.ContainsAny(repo, `*?[\`) {
		return "/"
	}
	return repo
}

// covers reports whether the limit counts work of a scope.
func (l Limit) covers(work scope) bool {
	in := l.Repo == "" || instance.InRepositories(l.Repo, work.repo)
	return in && (l.State == "" || l.State == work.state) && (l.Role == "" || l.Role == work.role)
}
