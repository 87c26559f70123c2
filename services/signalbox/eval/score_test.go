package eval

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWilsonIntervalsAreThoseOfTheLiterature(t *testing.T) {
	// Newcombe, Statistics in Medicine 17 (1998), table I: 81/263, 15/148, 0/20, 1/29.
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		if got := wilson(c.k, c.n); math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 || got.Mean != float64(c.k)/float64(c.n) {
			t.Errorf("%d of %d: %+v, want %g to %g", c.k, c.n, got, c.low, c.high)
		}
	}
	if got := wilson(0, 0); got.Low != 0 || got.High != 1 {
		t.Errorf("of no run it says %+v", got)
	}
}

func TestTheSignTestIsExact(t *testing.T) {
	for _, c := range []struct {
		a, b int
		p    float64
	}{{0, 0, 1}, {1, 1, 1}, {3, 0, 0.25}, {0, 5, 0.0625}, {6, 0, 0.03125}, {2, 10, 0.03857421875}, {8, 2, 0.109375}} {
		if got := signTest(c.a, c.b); math.Abs(got-c.p) > 1e-12 {
			t.Errorf("%d to %d: %g, want %g", c.a, c.b, got, c.p)
		}
	}
}

func TestTheNumberOfCasesOfADifferenceOfTenPointsIsThatOfTheLiterature(t *testing.T) {
	// Connor, Biometrics 43 (1987): (z₀.₉₇₅√ψ + z₀.₈√(ψ−δ²))²/δ² with δ = 0.1.
	for split, want := range map[float64]int{0: 155, 0.2: 155, 0.3: 234, 0.5: 391} {
		if got := casesFor(split); got != want {
			t.Errorf("where the brains differ at %g of the cases it is %d, want %d", split, got, want)
		}
	}
	d := compare("a", "b", []Run{{Case: "1", Brain: "a", Solved: true}, {Case: "1", Brain: "b"}})
	if said := d.String(); !strings.Contains(said, "not settled: a difference of 10 points wants about 783 cases") {
		t.Errorf("of one case it says %s", said)
	}
}

func TestMiningProposesWhatGivesMoreCases(t *testing.T) {
	lines := strings.Join(Mine{}.advice(1, map[string]int{noNames: 4}), "\n")
	for _, want := range []string{"about 155 cases", "--uncompiled keeps the 4 ", "--issues OWNER/NAME"} {
		if !strings.Contains(lines, want) {
			t.Errorf("it proposes %q, without %q", lines, want)
		}
	}
	if lines := (Mine{Uncompiled: true, Issues: "acme/widgets"}).advice(200, map[string]int{noNames: 4}); len(lines) > 0 {
		t.Errorf("where nothing would help it proposes %q", lines)
	}
}

func TestBrainsAreComparedCaseByCase(t *testing.T) {
	var runs []Run
	for i := range 8 {
		id := fmt.Sprint(i)
		runs = append(runs, Run{Case: id, Brain: "a", Repeat: 1, Solved: true, USD: 2}, Run{Case: id, Brain: "b", Repeat: 1, Solved: i < 1, Claimed: i < 3, USD: 1})
	}
	runs = append(runs, Run{Case: "of a alone", Brain: "a"})
	d := compare("a", "b", runs)
	if d.Cases != 8 || d.OnlyA != 7 || d.OnlyB != 0 || d.Solved.Mean != 7.0/8 || !d.Settled || d.USD != 1 {
		t.Errorf("got %+v", d)
	}
	if d := compare("a", "c", runs); d.Cases != 0 || d.Settled {
		t.Errorf("against a brain that was not run: %+v", d)
	}
	s := scores([]string{"b"}, runs)[0]
	if s.Runs != 8 || s.Solved != 1 || s.Wrong != 2 || s.USD != 1 || s.USDSolved != 8 {
		t.Errorf("the score is %+v", s)
	}
}

func TestWhatIsComparedIsSymmetricAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []Run
		n := rapid.IntRange(1, 12).Draw(t, "cases")
		for i := range n {
			for _, brain := range []string{"a", "b"} {
				for r := range rapid.IntRange(1, 3).Draw(t, "repeats") {
					runs = append(runs, Run{Case: fmt.Sprint(i), Brain: brain, Repeat: r, Solved: rapid.Bool().Draw(t, "solved")})
				}
			}
		}
		x, y := compare("a", "b", runs), compare("b", "a", runs)
		if x.OnlyA != y.OnlyB || math.Abs(x.Solved.Mean+y.Solved.Mean) > 1e-9 || x.P != y.P || x.P < 0 || x.P > 1 {
			t.Fatalf("%+v and the other way round %+v", x, y)
		}
		if x.Solved.Low > x.Solved.Mean+1e-9 || x.Solved.High < x.Solved.Mean-1e-9 || x.Solved.Low < -1 || x.Solved.High > 1 {
			t.Fatalf("the interval is %+v", x.Solved)
		}
	})
}
