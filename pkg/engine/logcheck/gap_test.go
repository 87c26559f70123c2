package logcheck_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Each gap is reported with its instances: "a" of the script has the sequences 1,
// 3, 5, 7, 10, 12 and 13, "b" the others.
func TestWhatIsMissingIsNamed(t *testing.T) {
	d := smallLifecycle(t)
	cut := func(from, to int) func([]eventstore.Commit) []eventstore.Commit {
		return func(log []eventstore.Commit) []eventstore.Commit { return slices.Delete(log, from-1, to) }
	}
	for name, c := range map[string]struct {
		damage func([]eventstore.Commit) []eventstore.Commit
		beside func(*logcheck.Checker)
		want   []logcheck.Gap
		text   []string
	}{
		"one commit": {cut(5, 5), nil, []logcheck.Gap{{From: 5, To: 5, Instances: []string{"a"}}},
			[]string{"sequence 5 is missing, between 4 of b and 6 of b; of a", "it follows 5, which is missing"}},
		"a run of two instances": {cut(3, 4), nil, []logcheck.Gap{{From: 3, To: 4, Instances: []string{"a", "b"}}},
			[]string{"sequences 3 to 4 are missing, 2 commits, between 2 of b and 5 of a; of a, b"}},
		"the beginning": {cut(1, 1), nil, []logcheck.Gap{{From: 1, To: 1, Instances: []string{"a"}}},
			[]string{"sequence 1 is missing, between the beginning and 2 of b; of a"}},
		"two runs": {func(log []eventstore.Commit) []eventstore.Commit { return cut(3, 3)(cut(9, 9)(log)) }, nil,
			[]logcheck.Gap{{From: 3, To: 3, Instances: []string{"a"}}, {From: 9, To: 9, Instances: []string{"b"}}}, nil},
		"the end, by the watermark": {cut(13, 14), func(k *logcheck.Checker) { k.ReadTo(14) },
			[]logcheck.Gap{{From: 13, To: 14, Instances: []string{}}},
			[]string{"sequences 13 to 14 are missing, 2 commits, after 12 of a, where the log ends; their instances are unknown"}},
		"the end, and a timer of it": {cut(13, 14), func(k *logcheck.Checker) { k.ReadTo(14); k.HasCommit("b", 14); k.HasCommit("a", 12) },
			[]logcheck.Gap{{From: 13, To: 14, Instances: []string{"b"}}}, nil},
		"the end, and how many there were": {cut(13, 14), func(k *logcheck.Checker) {
			k.ReadTo(14)
			k.HasCommits("a", 7)
			k.HasCommits("b", 6)
			k.HasCommits("c", 1)
		},
			[]logcheck.Gap{{From: 13, To: 14, Instances: []string{"a", "c"}}}, nil},
		"everything": {cut(1, 14), func(k *logcheck.Checker) { k.ReadTo(14) }, []logcheck.Gap{{From: 1, To: 14, Instances: []string{}}},
			[]string{"sequences 1 to 14 are missing, 14 commits, which is all of the log"}},
		"nothing": {cut(1, 0), func(k *logcheck.Checker) { k.ReadTo(14); k.HasCommit("a", 3); k.HasCommits("a", 7) }, []logcheck.Gap{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			k := logcheck.New(workflow.NewCatalog(d).Hashed)
			for _, c := range c.damage(commitsOf(t, smallScript(d))) {
				k.Add(c)
			}
			if c.beside != nil {
				c.beside(k)
			}
			r := k.Report()
			if diff := cmp.Diff(c.want, r.Missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if k.HasGaps() != (len(c.want) > 0) || (len(r.Violations) > 0) != k.HasGaps() {
				t.Errorf("%d are missing, and there are the violations %v", len(c.want), r.Violations)
			}
			said := ""
			for _, v := range r.Violations {
				said += v.Text + "\n"
			}
			for _, text := range c.text {
				if !strings.Contains(said, text) {
					t.Errorf("said\n%swithout %q", said, text)
				}
			}
		})
	}
}

// Commits after a gap are not reported for it, and other faults are still found.
func TestAHoleHidesNoFaultOfOthers(t *testing.T) {
	d := smallLifecycle(t)
	log := commitsOf(t, smallScript(d))
	log[13].State, log[13].Workflow = "todo", "errand" // b, and chained to its own past wrongly
	r := checkAll(slices.Delete(log, 4, 5), d)
	if got := formatViolations(r); !slices.Equal(got, []string{"5 a sequence", "7 a chain", "14 b chain", "14 b subject"}) {
		t.Errorf("got %v", r.Violations)
	}
}

func TestAnEndThatLiesInAHoleNamesItsInstance(t *testing.T) {
	d, newer := load(t, richLifecycle), load(t, richLifecycle+"# mended\npolicy: {mended: true}\n")
	log := commitsOf(t, richScript(d, newer))
	r := checkAll(slices.Delete(log, 19, 20), d, newer) // 20 is the end of b, and 21 tells of it
	if got := formatViolations(r); !slices.Equal(got, []string{"20 b sequence"}) {
		t.Errorf("got %v", r.Violations)
	}
}

func TestADamagedCommitIsNamed(t *testing.T) {
	d := smallLifecycle(t)
	k := logcheck.New(workflow.NewCatalog(d).Hashed)
	for _, c := range commitsOf(t, smallScript(d)) {
		if c.Seq == 5 {
			k.Damaged(5, "a", errors.New("it has no chain"))
			continue
		}
		k.Add(c)
	}
	if got := formatViolations(k.Report()); !slices.Equal(got, []string{"5 a damaged", "7 a chain"}) {
		t.Errorf("got %v", k.Report().Violations)
	}
}

// Commits after it count their sequences on, and its instance lacks none.
func TestAMessageThatIsNoCommitIsNamedAndNothingElseIsAmiss(t *testing.T) {
	d := smallLifecycle(t)
	log := memory.New()
	for _, c := range commitsOf(t, smallScript(d)) {
		if c.Seq == 5 {
			log.Intrude("sb.evt.note.issue.x.a", []byte("\x1b[31mhm\n"))
		}
		last, err := log.Last(t.Context(), c.Instance)
		if err != nil && !errors.Is(err, eventstore.ErrUnknown) {
			t.Fatal(err)
		}
		c.Prev = last.Seq
		c.Chain = eventstore.NextChain(last.Chain, c)
		if _, err := log.Append(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	r, err := logcheck.Check(t.Context(), log, workflow.NewCatalog(d).Hashed)
	if err != nil || len(r.Violations) == 0 {
		t.Fatalf("got %v, %v", r.Violations, err)
	}
	want := `sequence 5 of "": alien: a message on "sb.evt.note.issue.x.a" that is no commit is set aside: 8 bytes: "\x1b[31mhm\n"`
	if got := r.Violations[0].String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, v := range r.Violations[1:] {
		if v.Rule == logcheck.Chain || v.Rule == logcheck.Sequence || v.Rule == logcheck.Alien {
			t.Errorf("it is taken amiss: %v", v)
		}
	}
}

// A lean checker drops claims and finds the same.
func TestALeanCheckerFindsTheSame(t *testing.T) {
	d := smallLifecycle(t)
	log := commitsOf(t, smallScript(d))
	full, lean := logcheck.New(workflow.NewCatalog(d).Hashed), logcheck.New(workflow.NewCatalog(d).Hashed)
	lean.Lean = true
	for _, c := range slices.Delete(log, 6, 7) {
		full.Add(c)
		lean.Add(c)
	}
	if diff := cmp.Diff(full.Report().Violations, lean.Report().Violations); diff != "" {
		t.Errorf("(-full +lean):\n%s", diff)
	}
	if f, l := len(full.Report().Claims), len(lean.Report().Claims); l >= f {
		t.Errorf("%d claims of %d are kept", l, f)
	}
}
