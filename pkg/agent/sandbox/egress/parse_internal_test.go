package egress

import (
	"strings"
	"testing"
)

func TestAHostThatCannotBeReachedIsRefusedWithTheRightForm(t *testing.T) {
	for _, text := range []string{"", "foo:bar:baz", "foo:bar", "foo:0", "foo:70000", "foo:", ":443", "https://foo", "foo/bar", "a b", "a@b", "*", "a.*.b", "-foo",
		"foo..bar", "foo,bar", "foo=bar", "a:b:443"} {
		if _, err := Parse([]string{text}); err == nil || !strings.Contains(err.Error(), "want HOST, HOST:PORT, *.HOST or [IPV6]:PORT") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"registry.example.com", "registry.example.com.", "foo:8080", "*.foo.org", "*.foo.org:80", "10.0.0.7:8080", "[::1]:80", "::1", "my_host",
		"xn--mnchen-3ya.de", "m\u00fcnchen.de", "localhost:4873"} {
		if l, err := Parse([]string{text}); err != nil || l.Empty() {
			t.Errorf("%q: %v", text, err)
		}
	}
}
