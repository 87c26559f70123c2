package secret

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Environment returns the credentials among variables, each as name=value: the
// values of those whose names say that they are one. Paths are none.
func Environment(variables []string) (credentials []string) {
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		if credentialName.MatchString(name) && !strings.HasPrefix(value, "/") {
			credentials = append(credentials, value)
		}
	}
	return credentials
}

var credentialName = lazyregexp.New(`(?i)(^|_)(token|secret|passwd|password|pat|(api|access|private|auth|secret|signing)_?key(_id)?|credentials?)(_|$)|_key$`)
