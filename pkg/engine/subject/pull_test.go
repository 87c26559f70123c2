package subject

import "testing"

func TestWhereAConsumerIsAsked(t *testing.T) {
	for want, api := range map[string]struct{ domain, prefix string }{
		"$JS.API.CONSUMER.MSG.NEXT.EVENTS.c1":     {},
		"$JS.hub.API.CONSUMER.MSG.NEXT.EVENTS.c1": {domain: "hub"},
		"hub.js.CONSUMER.MSG.NEXT.EVENTS.c1":      {prefix: "hub.js."},
	} {
		if got := Pull(api.domain, api.prefix, "c1"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
