package standby

import "testing"

func TestOfTwoOrchestratorsOneOutranksTheOther(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b announcement
	}{
		{"one stands by", announcement{ID: "b", Since: 9}, announcement{ID: "a"}},
		{"one was active earlier", announcement{ID: "b", Since: 1}, announcement{ID: "a", Since: 2}},
		{"both became active at once", announcement{ID: "a", Since: 2}, announcement{ID: "b", Since: 2}},
	} {
		if !c.a.outranks(c.b) {
			t.Errorf("%s: %v does not outrank %v", c.name, c.a, c.b)
		}
		if c.b.Since > 0 && c.b.outranks(c.a) {
			t.Errorf("%s: %v outranks %v", c.name, c.b, c.a)
		}
	}
}
