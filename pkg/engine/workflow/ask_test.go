package workflow

import (
	"fmt"
	"testing"
)

func TestAGuardAsksForWhatItReads(t *testing.T) {
	for source, want := range map[string]string{
		"evidence['tests'].ok":                                                                 "[evidence['tests']]",
		"evidence.tests.ok":                                                                    "[evidence['tests']]",
		"'tests' in evidence && evidence['tests'].ok":                                          "[]",
		"'tests' in evidence && evidence.tests.ok":                                             "[]",
		"has(evidence.tests) && evidence['tests'].ok":                                          "[]",
		"'lint' in evidence && evidence['tests'].ok":                                           "[evidence['tests']]",
		"!('tests' in evidence) || size(evidence['tests'].failed) == 0":                        "[]",
		"'x' in result.data && result.data['x'] == 'y'":                                        "[]",
		"'x' in signal.data && result.data['x'] == 'y'":                                        "[result.data['x']]",
		"'ci' in evidence && evidence['ci'].data['name'] == 'x'":                               "[evidence['ci'].data['name']]",
		"'ci' in evidence && 'name' in evidence.ci.data && evidence['ci'].data['name'] == 'x'": "[]",
		"instance.visits['open'] > 2":                                                          "[instance.visits['open']]",
		"instance.failures > 2 && instance.previous_states[0] == ''":                           "[]",
		"instance.state in evidence && evidence[instance.state].ok":                            "[]",
	} {
		if got := fmt.Sprint(guardOf(t, source, nil).unasked); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
}

func TestVerifyNamesAGuardThatMayFail(t *testing.T) {
	for _, c := range []struct {
		change []string
		want   string
	}{
		{nil, ""},
		{[]string{"'merged' in evidence && evidence.merged.ok", "evidence.merged.ok"},
			`small.yaml:38:22: guard "evidence.merged.ok" fails where there is no evidence['merged']: ask first, 'merged' in evidence`},
		{[]string{"instance.visits['open'] > policy.most", "instance.visits['review'] > policy.most"},
			`small.yaml:21:17: guard "instance.visits['review'] > policy.most" fails where there is no instance.visits['review']: ask first, 'review' in instance.visits`},
	} {
		if got := listed(Verify(loaded(t, mustReplace(t, rich, c.change...)))); got != c.want {
			t.Errorf("problems %s, want %s", got, c.want)
		}
	}
}
