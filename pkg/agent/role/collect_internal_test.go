package role

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestACommitMessageNotifiesNobodyAndClosesNothing(t *testing.T) {
	long := strings.Repeat("long ", 20)
	for name, c := range map[string]struct{ summary, title, want string }{
		"ordinary":             {"Round halves up in List<T>\nand more", "Totals", "Round halves up in List<T>"},
		"nothing said":         {"", "Totals are off", "implementing: Totals are off"},
		"much said":            {long, "Totals are off", "implementing: Totals are off"},
		"closing":              {"Fixes #1", "", "Fixes # 1"},
		"closing elsewhere":    {"round up, resolves acme/gears#4", "", "round up, resolves acme/gears# 4"},
		"a mention":            {".@octocat did it", "", ".@ octocat did it"},
		"title of a stranger":  {"", "Fixes #1\r\rFixes #2 /@octocat", "implementing: Fixes # 1 Fixes # 2 /@ octocat"},
		"carriage returns":     {"Round up\rFixes #1", "", "Round up"},
		"escapes":              {"red \x1b[31m", "", "red ‹U+001B›[31m"},
		"nothing that is seen": {"\u200b", "Totals", "implementing: Totals"},
	} {
		t.Run(name, func(t *testing.T) {
			job := agent.Job{Assignment: brain.Assignment{State: "implementing", Issue: instance.Issue{Title: c.title}}}
			if got := message(job, instance.Result{Summary: c.summary}); got != c.want {
				t.Errorf("the message is %q, want %q", got, c.want)
			}
		})
	}
}

func TestACommitNamesItsBrainIfThePolicyAsksForIt(t *testing.T) {
	for name, c := range map[string]struct {
		policy any
		brain  string
		want   bool
	}{
		"a brain": {true, "exec:claude", true}, "a model": {true, "model:anthropic/NAME", true}, "no policy": {nil, "exec:claude", false},
		"rules": {true, "rules", false}, "a person": {true, "Ann <ann@example.test>", false}, "no brain": {true, "", false},
	} {
		var job agent.Job
		job.Instance, job.State, job.Policy = "acme/widgets/1", "implementing", map[string]any{"assisted_by": c.policy}
		got := trailers(job, c.brain)
		if named := slices.Contains(got, "Assisted-by: "+c.brain); named != c.want || got[0] != "Signalbox-Instance: acme/widgets/1" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
