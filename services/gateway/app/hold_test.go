package app

import "testing"

// holding is a poller that a label holds work for.
func (e *env) holding() *poller {
	e.Helper()
	return e.poller(func(p *poller) { p.intake.Hold = "signalbox:hold" })
}

func (e *env) label(issue int, name string, add bool) {
	e.Helper()
	var err error
	if add {
		err = e.ann.AddLabels(e.ctx, widgets, issue, []string{name})
	} else {
		err = e.ann.RemoveLabel(e.ctx, widgets, issue, name)
	}
	if err != nil {
		e.Fatal(err)
	}
}

func TestAnIssueIsNotTakenUpWhileALabelHoldsIt(t *testing.T) {
	w := newEnv(t)
	p := w.holding()
	issue := w.report(w.ann, "The sum is wrong", "Signalbox:Hold")
	w.say(w.ann, issue, "It says 5.")
	w.poll(p)
	w.poll(p)
	if all := w.instances(); len(all) != 0 {
		t.Errorf("opened %q", all)
	}
	w.second.Add(1)
	w.label(issue, "Signalbox:Hold", false)
	w.poll(p)
	w.want(issue, "ann: It says 5.")
}

func TestALabelHoldsWorkThatIsUnderWay(t *testing.T) {
	w := newEnv(t)
	p := w.holding()
	issue := w.report(w.ann, "The sum is wrong")
	w.poll(p)
	paused := func(want bool) {
		t.Helper()
		w.poll(p)
		in, err := w.client.Get(w.ctx, Name(widgets, issue))
		if err != nil || in.GetPaused() != want {
			t.Errorf("it is paused: %v (%s), %v, want %v", in.GetPaused(), in.GetReason(), err, want)
		}
	}
	paused(false)
	for _, on := range []bool{true, false, true, false} {
		w.second.Add(1)
		w.label(issue, "signalbox:hold", on)
		paused(on)
		p = w.holding() // another gateway goes on
		paused(on)
	}
	if _, err := w.client.Pause(w.ctx, Name(widgets, issue), "I want to look at it"); err != nil {
		t.Fatal(err)
	}
	for _, on := range []bool{true, false} { // what a person paused stays so
		w.second.Add(1)
		w.label(issue, "signalbox:hold", on)
		paused(true)
	}
}
