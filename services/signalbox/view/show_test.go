package view

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

func TestAVarOfABuiltInLifecycleIsShownInWords(t *testing.T) {
	const hash = "ce00b67f5a1d2c3b4a59687786950a1b2c3d4e5f"
	for _, c := range []struct{ name, value, want string }{
		{"prNumber", "5", "pull request #5"},
		{"prNumber", "0", "no pull request"},
		{"prNumber", "", `prNumber is ""`},
		{"prNumber", "five", "prNumber is five"},
		{"pushed", hash, "pushed ce00b67f5a"},
		{"pushed", "", `pushed is ""`},
		{"pushed", "true", "pushed is true"},
		{"branch", hash, "branch is " + hash},
		{"release", "5", "release is 5"},
	} {
		in := Instance{Vars: map[string]string{c.name: c.value}}
		if got := in.remembers(); got != c.want {
			t.Errorf("%s %q is shown as %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

func TestOnlyWhatEndedWithoutSuccessHasFailed(t *testing.T) {
	for name, c := range map[string]struct {
		in     Instance
		failed bool
	}{
		"it was cancelled":              {after(23), true},
		"it works on":                   {after(14), false},
		"its last move was a failure":   {of(func(in *instance.Instance) { in.Closed, in.Failed = instance.Ended, true }), true},
		"it ended well":                 {of(func(in *instance.Instance) { in.Closed, in.Failed = instance.Ended, false }), false},
		"a move failed, and it goes on": {of(func(in *instance.Instance) { in.Failed = true }), false},
	} {
		want := ""
		if c.failed {
			want = c.in.Reason
		}
		if c.in.Failed != c.failed || c.in.FailureReason != want || c.failed && want == "" {
			t.Errorf("%s: failed is %t, because of %q", name, c.in.Failed, c.in.FailureReason)
		}
	}
}

func TestATestThatFailsOnTheBaseShowsTheIssue(t *testing.T) {
	for ok, want := range map[bool]string{true: "a test fails, and shows the issue: go test ./...", false: "no test fails, so none shows the issue: go test ./..."} {
		red := instance.Evidence{Name: work.Red, OK: ok, Command: "go test ./...", Commit: "5f445b08b550", Passed: 1}
		if got := resultOf(red); got != want {
			t.Errorf("ok is %t: %q, want %q", ok, got, want)
		}
		env, out := screen(0)
		if err := Page(env, Instance{Instance: "s", Evidence: []instance.Evidence{red}}); err != nil {
			t.Fatal(err)
		}
		if page, want := out.String(), strings.SplitN(want, ",", 2)[0]; !strings.Contains(page, want) || strings.Contains(page, "exit code") {
			t.Errorf("ok is %t: the page lacks %q:\n%s", ok, want, page)
		}
	}
}

// of returns the view of the story's instance at a point where tests fail, changed.
func of(change func(*instance.Instance)) Instance {
	in := instance.Fold(id, story()[:14])
	change(&in)
	return Of(wire.FullView(in))
}
