package duty

import "testing"

// Who stands by is before nobody; of two on duty exactly one is before the other.
func TestOneOfTwoOnDutyIsTheElder(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b word
	}{
		{"one stands by", word{ID: "b", Since: 9}, word{ID: "a"}},
		{"one was earlier", word{ID: "b", Since: 1}, word{ID: "a", Since: 2}},
		{"both at once", word{ID: "a", Since: 2}, word{ID: "b", Since: 2}},
	} {
		if !c.a.before(c.b) {
			t.Errorf("%s: %v is not before %v", c.name, c.a, c.b)
		}
		if c.b.Since > 0 && c.b.before(c.a) {
			t.Errorf("%s: %v is before %v", c.name, c.b, c.a)
		}
	}
}
