package workflow

// Warn returns what is sound and yet seldom meant: a state in which one failed attempt
// of the owner ends the run. A brain that fails says nothing of the work. Nothing that
// Verify proves depends on it.
func Warn(d *Definition) []Problem {
	var w problems
	for _, s := range d.States {
		r, ok := s.afterFailure()
		if !ok {
			continue
		}
		if name, ok := s.first(r.To); ok {
			if to, _ := d.State(name); to.Kind == Final {
				w.add(r.at, "one failed attempt of %s in %s ends the run in %s, whatever it failed of: "+
					"want escalate: true, or another try under a limit", s.Owner, s.Name, name)
			}
		}
	}
	return w
}

// afterFailure returns the rule that decides a failure without further facts.
func (s State) afterFailure() (Rule, bool) {
	f := &Facts{
		Result:   ResultFacts{Status: "failure"},
		Instance: InstanceFacts{State: s.Name, Head: "commit", Visits: map[string]int64{s.Name: 1}},
		Issue:    IssueFacts{Title: "title", Body: "body", Author: "author"},
	}
	for _, r := range s.Decide {
		if holds, err := r.When.Holds(f); err == nil && holds {
			return r, true
		}
	}
	return Rule{}, false
}
