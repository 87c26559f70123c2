package instance

import (
	"fmt"
	"path"
	"strings"
)

// CheckRepositories returns an error unless the pattern is OWNER/NAME or a pattern of such
// names: acme/*, */*, acme/web-?. Its text is for people.
func CheckRepositories(pattern string) error {
	const want = "want OWNER/NAME, or a pattern such as acme/*"
	owner, name, _ := strings.Cut(pattern, "/")
	if owner == "" || name == "" || strings.Contains(name, "/") {
		hint := ""
		if owner != "" && !strings.Contains(name, "/") {
			hint = fmt.Sprintf("; did you mean %s/*?", owner)
		}
		return fmt.Errorf("%q is no repository: %s%s", pattern, want, hint)
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("%q is no pattern: %s; * stands for any letters, ? for one, [ab] for one of those", pattern, want)
	}
	return nil
}

// InRepositories reports whether a pattern that CheckRepositories accepts matches a
// repository. Case does not count.
func InRepositories(pattern, repo string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(repo))
	return ok && err == nil
}
