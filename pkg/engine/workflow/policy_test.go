package workflow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithPolicyConvertsToTheDefaultsType(t *testing.T) {
	d := loaded(t, strings.Replace(small, "sure: 0.5", "sure: 0.5, strict: true, name: x", 1))
	for _, c := range []struct {
		name  string
		value any
		want  any // nil: refused
	}{
		{"most", 4, int64(4)}, {"most", "4", int64(4)}, {"most", 4.0, int64(4)}, {"most", uint8(4), int64(4)},
		{"most", 4.5, nil}, {"most", "four", nil}, {"most", true, nil}, {"most", nil, nil},
		{"sure", 0.75, 0.75}, {"sure", 1, 1.0}, {"sure", "0.75", 0.75}, {"sure", "NaN", nil}, {"sure", "very", nil},
		{"strict", false, false}, {"strict", "false", false}, {"strict", 1, nil},
		{"name", "y", "y"}, {"name", 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := d.WithPolicy(map[string]any{c.name: c.value})
			switch {
			case c.want == nil && err == nil:
				t.Errorf("%T %v is taken as %v", c.value, c.value, got.Policy[c.name])
			case c.want != nil && err != nil:
				t.Error(err)
			case c.want != nil && !cmp.Equal(got.Policy[c.name], c.want):
				t.Errorf("%v, want %v", got.Policy[c.name], c.want)
			}
		})
	}
}

func TestAPolicyThatIsYesOrNoIsRefusedWithTheRemedy(t *testing.T) {
	d := loaded(t, strings.Replace(small, "sure: 0.5", "sure: 0.5, strict: true", 1))
	for _, word := range []string{"yes", "no", "on", "off", "n"} {
		if _, err := d.WithPolicy(map[string]any{"strict": word}); err == nil || !strings.Contains(err.Error(), word+" is no bool: write true or false") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestWithPolicyGivesAnotherDefinition(t *testing.T) {
	d := loaded(t, small)
	other, err := d.WithPolicy(map[string]any{"most": 1})
	if err != nil {
		t.Fatal(err)
	}
	if other.Hash == d.Hash {
		t.Error("the hash is the same")
	}
	one := Facts{Instance: InstanceFacts{Returns: 1}}
	for name, c := range map[string]struct {
		d    *Definition
		want bool
	}{"the old": {d, false}, "the new": {other, true}} {
		if holds, err := c.d.Limits[0].When.Eval(one); holds != c.want || err != nil {
			t.Errorf("%s definition's budget: %v, %v; want %v", name, holds, err, c.want)
		}
	}
}

func TestWithPolicySuggestsANameForAnUnknownOne(t *testing.T) {
	_, err := loaded(t, small).WithPolicy(map[string]any{"mots": 1})
	if want := `small: unknown policy "mots"; did you mean "most"?`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
