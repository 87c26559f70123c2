package eval

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Run is one run of one brain at one case.
type Run struct {
	Case    string `json:"case"`
	Brain   string `json:"brain"`
	Repeat  int    `json:"repeat"`
	Solved  bool   `json:"solved"`  // its branch passes all tests with those of the case
	Claimed bool   `json:"claimed"` // it ended with a branch
	Passed  int    `json:"passed"`  // of the case's failing tests
	Tests   int    `json:"tests"`   // how many those are
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Error   string `json:"error,omitempty"` // it could not be run; it counts as not solved

	Instance   string  `json:"instance,omitempty"`
	Data       string  `json:"data"` // directory of its log
	Iterations int     `json:"iterations"`
	Questions  int     `json:"questions"`
	Millis     int64   `json:"millis"`
	TokensIn   int64   `json:"tokens_in"`
	TokensOut  int64   `json:"tokens_out"`
	USD        float64 `json:"usd"`
}

// Score is what the runs of one brain say of it.
type Score struct {
	Brain      string   `json:"brain"`
	Runs       int      `json:"runs"`
	Solved     int      `json:"solved"`
	Share      Interval `json:"share"`  // of runs that solved
	Wrong      int      `json:"wrong"`  // claimed to have solved, and had not
	Errors     int      `json:"errors"` // could not be run
	Passed     float64  `json:"passed"` // share of the tests that had to pass
	Iterations float64  `json:"iterations"`
	Questions  float64  `json:"questions"`
	Seconds    float64  `json:"seconds"`
	Tokens     float64  `json:"tokens"` // means of a run, from here up
	USD        float64  `json:"usd"`
	USDSolved  float64  `json:"usd_solved,omitempty"` // of all runs, for each that solved
}

// Interval is an estimate with its 95 % confidence interval.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Difference is how much more of the same cases brain A solves than brain B.
type Difference struct {
	A       string   `json:"a"`
	B       string   `json:"b"`
	Cases   int      `json:"cases"`
	OnlyA   int      `json:"only_a"` // cases that A solves more often
	OnlyB   int      `json:"only_b"`
	Solved  Interval `json:"solved"`  // difference of the shares
	P       float64  `json:"p"`       // of the sign test over the cases
	Settled bool     `json:"settled"` // P is below 0.05
	Needed  int      `json:"needed"`  // cases that a difference of 10 points wants
	USD     float64  `json:"usd"`     // difference of the means of a run
	Seconds float64  `json:"seconds"`
}

// scores returns the score of each brain, in the order of brains.
func scores(brains []string, runs []Run) []Score {
	var all []Score
	for _, brain := range brains {
		s := Score{Brain: brain}
		passed, tests := 0, 0
		for _, r := range runs {
			if r.Brain != brain {
				continue
			}
			s.Runs++
			switch {
			case r.Solved:
				s.Solved++
			case r.Claimed:
				s.Wrong++
			case r.Error != "":
				s.Errors++
			}
			passed, tests = passed+r.Passed, tests+r.Tests
			s.Iterations += float64(r.Iterations)
			s.Questions += float64(r.Questions)
			s.Seconds += float64(r.Millis) / 1000
			s.Tokens += float64(r.TokensIn + r.TokensOut)
			s.USD += r.USD
		}
		if s.Solved > 0 {
			s.USDSolved = s.USD / float64(s.Solved)
		}
		if n := float64(s.Runs); n > 0 {
			for _, sum := range []*float64{&s.Iterations, &s.Questions, &s.Seconds, &s.Tokens, &s.USD} {
				*sum /= n
			}
		}
		if tests > 0 {
			s.Passed = float64(passed) / float64(tests)
		}
		s.Share = wilson(s.Solved, s.Runs)
		all = append(all, s)
	}
	return all
}

// wilson returns the share of successes with its Wilson score interval.
func wilson(successes, n int) Interval {
	if n == 0 {
		return Interval{0, 0, 1}
	}
	const z = 1.959964
	p, total := float64(successes)/float64(n), float64(n)
	centre := (p + z*z/(2*total)) / (1 + z*z/total)
	half := z / (1 + z*z/total) * math.Sqrt(p*(1-p)/total+z*z/(4*total*total))
	return Interval{p, max(0, centre-half), min(1, centre+half)}
}

// resamples is how often the cases are resampled for an interval of differences.
const resamples = 10000

// compare returns the difference of two brains over the cases that both were run at. Its
// interval is the percentile bootstrap over cases, as repeats at one case are not
// independent.
func compare(a, b string, runs []Run) Difference {
	type sum struct{ solved, n, usd, seconds float64 }
	at := map[string]map[string]sum{a: {}, b: {}}
	for _, r := range runs {
		if at[r.Brain] == nil {
			continue
		}
		s := at[r.Brain][r.Case]
		s.n++
		s.usd += r.USD
		s.seconds += float64(r.Millis) / 1000
		if r.Solved {
			s.solved++
		}
		at[r.Brain][r.Case] = s
	}
	d := Difference{A: a, B: b}
	var solved []float64
	for id, x := range at[a] {
		y, both := at[b][id]
		if !both {
			continue
		}
		more := x.solved/x.n - y.solved/y.n
		switch cmp.Compare(more, 0) {
		case 1:
			d.OnlyA++
		case -1:
			d.OnlyB++
		}
		solved = append(solved, more)
		d.USD += x.usd/x.n - y.usd/y.n
		d.Seconds += x.seconds/x.n - y.seconds/y.n
	}
	if d.Cases = len(solved); d.Cases == 0 {
		return d
	}
	slices.Sort(solved) // maps have no order, and the draws are the same each time
	d.USD, d.Seconds = d.USD/float64(d.Cases), d.Seconds/float64(d.Cases)
	d.Solved = bootstrap(solved)
	d.P = signTest(d.OnlyA, d.OnlyB)
	d.Settled = d.P < 0.05
	d.Needed = casesFor(float64(d.OnlyA+d.OnlyB) / float64(d.Cases))
	return d
}

// usualSplit is the share of cases at which two brains differ where nothing better is known.
const usualSplit = 0.2

// casesFor returns how many cases a difference of 10 points wants, to be found at the level of
// 5 % with a power of 80 %. split is the share of cases that one of the two brains alone
// solves. It is taken for usualSplit where it is smaller: few cases show few differences.
// (Connor, Sample size for testing differences in proportions for the paired-sample design.)
func casesFor(split float64) int {
	const difference, level, power = 0.10, 1.960, 0.842
	split = max(split, usualSplit)
	root := level*math.Sqrt(split) + power*math.Sqrt(split-difference*difference)
	return int(math.Ceil(root * root / (difference * difference)))
}

// signTest returns how likely a split at least as uneven is, if neither is better.
func signTest(a, b int) float64 {
	n := a + b
	term, sum := math.Pow(0.5, float64(n)), 0.0
	for k := range min(a, b) + 1 {
		sum += term
		term *= float64(n-k) / float64(k+1)
	}
	return min(1, 2*sum)
}

// bootstrap returns the mean with its percentile interval. It draws the same each time.
func bootstrap(values []float64) Interval {
	draw := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, resamples)
	for i := range means {
		for range values {
			means[i] += values[draw.IntN(len(values))]
		}
		means[i] /= float64(len(values))
	}
	slices.Sort(means)
	var mean float64
	for _, v := range values {
		mean += v
	}
	return Interval{mean / float64(len(values)), means[resamples*25/1000], means[resamples*975/1000-1]}
}
