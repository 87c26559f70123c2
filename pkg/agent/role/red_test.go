package role_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

const (
	sumPasses = "package sum\n\nimport \"testing\"\n\nfunc TestFine(t *testing.T) {}\n"
	sumShows  = "package sum\n\nimport \"testing\"\n\nfunc TestZero(t *testing.T) {\n\tif Sum(0, 7) != 7 {\n\t\tt.Error(\"it is not 7\")\n\t}\n}\n"
)

// creating has the tester leave the files where it is to write tests.
func (e *env) creating(policy string, files map[string]string, steps ...by) instance.Result {
	e.Helper()
	var results []instance.Result
	for _, s := range steps {
		results = append(results, s.Result)
	}
	job := e.job("tester", "creating_tests", results...)
	for i, s := range steps {
		job.Bundles[i+1].Role = s.role
	}
	job.Writers, job.Testers, job.Policy = []string{"developer"}, []string{"tester"}, map[string]any{"red_first": policy}
	r, err := e.do(job, writes(files))
	if err != nil {
		e.Fatal(err)
	}
	return r
}

func TestTestsThatAreWrittenHaveToFailBeforeThereIsCodeForThem(t *testing.T) {
	passing := map[string]string{"go.mod": goMod, "sum.go": sumRight, "sum_test.go": sumTest}
	for _, c := range []struct {
		name     string
		base     map[string]string
		policy   string
		files    map[string]string
		status   instance.Status
		red, ran bool
		failed   []string
	}{
		{"a test that fails", goRepository(), "written", map[string]string{"zero_test.go": sumShows}, instance.Success, true, true,
			[]string{"example.test/sum.TestSum", "example.test/sum.TestZero"}},
		{"tests that all pass", passing, "written", map[string]string{"zero_test.go": sumPasses}, instance.Failure, false, true, nil},
		{"tests that all pass, and nobody asks", passing, "never", map[string]string{"zero_test.go": sumPasses}, instance.Success, false, false,
			nil},
		{"tests that are relied on and fail", goRepository(), "always", nil, instance.Success, true, true, []string{"example.test/sum.TestSum"}},
		{"tests that are relied on and pass", passing, "always", nil, instance.Failure, false, true, nil},
		{"tests that are relied on and pass, where only written ones have to fail", passing, "written", nil, instance.Success, false, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, c.base)
			r := e.creating(c.policy, c.files)
			if r.Status != c.status || (len(r.Evidence) == 1) != c.ran || (r.Head != "") != (c.status == instance.Success && c.files != nil) {
				t.Fatalf("it ended with %+v", r)
			}
			if !c.ran {
				return
			}
			if ev := r.Evidence[0]; ev.Name != work.Red || ev.OK != c.red || !slices.Equal(ev.Failed, c.failed) {
				t.Errorf("the evidence is %+v", ev)
			}
			if said := strings.Join(r.IssuesFound, " "); !c.red && !strings.Contains(said, "no test fails as it is: go test -json ./... passes on") {
				t.Errorf("the issues are %q", said)
			}
		})
	}
}

func TestWhereTestsTakeLongNewOnesAreRunByName(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  map[string]string
		status instance.Status
		failed []string
		ran    []string // in order
	}{
		{"a new test that fails", map[string]string{"zero_test.go": sumShows}, instance.Success, []string{"example.test/sum.TestZero"},
			[]string{"running example.test/sum.TestZero, to see"}},
		{"a new test that passes", map[string]string{"zero_test.go": sumPasses}, instance.Failure, []string{"example.test/sum.TestSum"},
			[]string{"running example.test/sum.TestFine, to see", "running go test -json ./..., to see"}},
		{"a new test that does not compile", map[string]string{"zero_test.go": strings.ReplaceAll(sumShows, "Sum(", "Add(")}, instance.Success,
			nil, []string{"running go test -json ./..., to see"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t, goRepository())
			e.baselines, e.quick = new(role.Baselines), 0
			var r instance.Result
			said := e.progressOf(func() { r = e.creating("written", c.files) })
			for _, run := range c.ran {
				_, rest, ok := strings.Cut(said, run)
				if !ok {
					t.Fatalf("it did not say %q:\n%s", run, said)
				}
				said = rest
			}
			if strings.Contains(said, "to see a test fail") {
				t.Errorf("it ran more:\n%s", said)
			}
			if r.Status != c.status {
				t.Fatalf("it ended with %+v", r)
			}
			if ev := r.Evidence[len(r.Evidence)-1]; c.failed != nil && !slices.Equal(ev.Failed, c.failed) {
				t.Errorf("the evidence is %+v", ev)
			}
		})
	}
}

func TestTestsThatAreChangedOnceThereIsCodeNeedNotFail(t *testing.T) {
	e := newEnv(t, goRepository())
	fixed := e.left("developer", map[string]string{"sum.go": sumRight})
	if r := e.creating("always", map[string]string{"zero_test.go": sumShows}, fixed); r.Status != instance.Success || len(r.Evidence) != 0 ||
		r.Head == "" {
		t.Errorf("it ended with %+v", r)
	}
}
