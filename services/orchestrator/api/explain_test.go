package api_test

import (
	"errors"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
)

func TestAnExplanationIsData(t *testing.T) {
	e := newEnv(t, nil)
	e.open(id(0))
	got, err := e.client.Explain(t.Context(), id(0))
	if err != nil {
		t.Fatal(err)
	}
	if r := got.GetReasons(); len(r) != 1 || r[0].GetKind() != string(standing.Queued) || r[0].GetSentence() == "" || r[0].GetUnblocks() == "" ||
		r[0].GetHelp()[0].GetVerb() != "retry" || got.GetState() == "" || got.GetAbout() == "" || len(got.GetNext()) == 0 {
		t.Errorf("%v", got)
	}
	if err := second(e.client.Pause(t.Context(), id(0), "later")); err != nil {
		t.Fatal(err)
	}
	got, err = e.client.Explain(t.Context(), id(0))
	if err != nil || got.GetReasons()[0].GetSentence() != "It is paused: later. Nobody is given its work until it is resumed." || got.GetReasons()[0].GetUnblocks() != standing.ForPeople {
		t.Errorf("%v, %v", got, err)
	}
	for name, id := range map[string]string{"unknown": "no/such/1", "empty": ""} {
		if _, err := e.client.Explain(t.Context(), id); !errors.As(err, new(*instance.Refusal)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
