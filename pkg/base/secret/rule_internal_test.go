package secret

import "testing"

func TestEveryRuleCompiles(t *testing.T) {
	rules, err := load()
	if err != nil || len(rules) < 200 {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
	for _, r := range rules {
		r.Regex.MatchString("") // panics
		for _, a := range r.Allowlists {
			for _, p := range a.Regexes {
				p.MatchString("")
			}
		}
	}
}
