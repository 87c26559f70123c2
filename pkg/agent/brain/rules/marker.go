package rules

import (
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Marker is a line that people do not see, by which a comment or a pull request is found
// again. It names the instance and the kind of the comment. Check the author as well: anybody can
// copy a marker.
func Marker(instance, key string) string {
	return "<!-- signalbox instance=" + url.QueryEscape(instance) + " key=" + url.QueryEscape(key) + " -->"
}

var marker = lazyregexp.New(`(?m)^<!-- signalbox instance=([^\s>]*) key=([^\s>]*) -->\s*$`)

// FindMarker returns what the first marker on a line of its own says; ok is
// false when there is none. Quoted markers are none.
func FindMarker(body string) (instance, key string, ok bool) {
	m := marker.FindStringSubmatch(strings.ReplaceAll(body, "\r\n", "\n"))
	if m == nil {
		return "", "", false
	}
	instance, err := url.QueryUnescape(m[1])
	if err != nil {
		return "", "", false
	}
	key, err = url.QueryUnescape(m[2])
	return instance, key, err == nil
}

func ours(body string) bool {
	_, _, ok := FindMarker(body)
	return ok
}
