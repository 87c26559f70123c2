package instance_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestASumOfCostsHasTheBrainOfBoth(t *testing.T) {
	a, b := instance.Cost{USD: 1, Brain: "a"}, instance.Cost{USD: 2, Brain: "b"}
	untold, none, waits := instance.Cost{USD: 4}, instance.Cost{}, instance.Cost{Brain: "a"}
	for _, c := range []struct {
		x, y instance.Cost
		want instance.Cost
	}{
		{a, a, instance.Cost{USD: 2, Brain: "a"}}, {a, b, instance.Cost{USD: 3}}, {a, untold, instance.Cost{USD: 5}}, {untold, b, instance.Cost{USD: 6}},
		{none, a, a}, {a, none, a}, {waits, a, a}, {waits, b, instance.Cost{USD: 2}}, {none, none, none},
	} {
		if got := c.x.Add(c.y); got != c.want {
			t.Errorf("%+v and %+v are %+v, want %+v", c.x, c.y, got, c.want)
		}
	}
}
