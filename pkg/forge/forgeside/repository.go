package forgeside

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// ErrRepository says that a repository is not one of those that the service serves.
var ErrRepository = errors.New("repository is not served here")

// Repositories is the list of repositories that a service serves: names, or patterns
// such as acme/*. Case does not matter. An empty list has none.
type Repositories []string

// Check returns an ErrRepository that names the repository if no pattern matches it.
func (r Repositories) Check(repo string) error {
	for _, pattern := range r {
		if ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(repo)); ok && err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: %q; --repo names %s", ErrRepository, repo, strings.Join(r, ", "))
}

// Validate returns an error if a pattern cannot match a repository.
func (r Repositories) Validate() error {
	for _, pattern := range r {
		_, err := path.Match(pattern, "a/b")
		if owner, name, ok := strings.Cut(pattern, "/"); err != nil || !ok || owner == "" || name == "" || strings.Contains(name, "/") {
			return fmt.Errorf("--repo %q: want OWNER/NAME; * stands for any part of one, as in acme/*", pattern)
		}
	}
	return nil
}
