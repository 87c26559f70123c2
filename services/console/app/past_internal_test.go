package app

import "testing"

func TestTheSliderStandsAtTheNewestCommitUpToASequence(t *testing.T) {
	in, records := told(t, "text")
	for _, r := range records {
		r.Seq *= 10 // commits of other instances lie between
	}
	for name, c := range map[string]struct {
		seq, at        uint64
		earlier, later string
		past           bool
		state          string
	}{
		"no sequence is the newest":     {0, 30, "?seq=20", "", false, "waiting_for_requirements_clarification"},
		"a commit":                      {20, 20, "?seq=10", "?seq=30", true, "received"},
		"between two commits":           {29, 20, "?seq=10", "?seq=30", true, "received"},
		"before the first is the first": {1, 10, "", "?seq=20", true, "received"},
		"after the last is the last":    {99, 30, "?seq=20", "", false, "waiting_for_requirements_clarification"},
	} {
		t.Run(name, func(t *testing.T) {
			s := makeSlider("", records, c.seq)
			if s.Seq != c.at || s.Earlier != c.earlier || s.Later != c.later || s.Past != c.past || s.First != 10 || s.Last != 30 {
				t.Errorf("got %+v", s)
			}
			was, until := s.then(in.Instance, records)
			if was.State != c.state || was.Seq != c.at || len(until) != int(c.at/10) {
				t.Errorf("it is in %s at %d, after %d commits", was.State, was.Seq, len(until))
			}
		})
	}
}

func TestPoliciesAreReadFromALine(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a=1": 1, "a=1, b=2\tc=x": 3} {
		if got, err := readPolicies(text); err != nil || len(got) != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"a", "=1", "a=", "a = 1"} {
		if got, err := readPolicies(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
