package rules_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func at(minute int) time.Time { return time.Date(2026, 3, 4, 13, minute, 59, 0, time.UTC) }

func TestStatus(t *testing.T) {
	moves := []rules.Move{
		{At: at(0), To: "received"},
		{At: at(2), From: "received", To: "implementing", Reason: "fixes #3, says @eve | and\n/approve"},
	}
	for name, c := range map[string]struct {
		status rules.Status
		want   string
	}{
		"at work": {rules.Status{Instance: "acme/widgets/7", Phase: rules.Working, State: "implementing", About: "The developer solves it.", Since: at(2),
			Role: "developer", Agent: "developer-1", Taken: at(3), Reason: "r", Cost: instance.Cost{USD: 0.421, TokensIn: 1234000, TokensOut: 567}, Moves: moves},
			`**At work**: The developer solves it.

- State: ` + "`implementing`" + ` since 2026-03-04 13:02 UTC
- At work: ` + "`developer` (`developer-1`)" + ` since 2026-03-04 13:03 UTC
- Cost: 0.42 USD, 1,234,567 tokens

<details><summary>Last moves</summary>

- 2026-03-04 13:00 UTC: ` + "`received`" + `
- 2026-03-04 13:02 UTC: ` + "`received` → `implementing`" + `, fixes # 3, says @ eve | and /approve

</details>

This comment is kept up to date. ` + "`signalbox explain acme/widgets/7`" + ` shows more.
`},
		"nobody at work": {rules.Status{Instance: "i", Phase: rules.Working, State: "running_tests", Since: at(2), Role: "tester", Parts: 3, Ended: 1},
			`**At work**

- State: ` + "`running_tests`" + ` since 2026-03-04 13:02 UTC
- To act: ` + "`tester`" + `
- Parts: 1 of 3 have ended

This comment is kept up to date. ` + "`signalbox explain i`" + ` shows more.
`},
		"waiting": {rules.Status{Instance: "i", Phase: rules.Waiting, State: "waiting", Since: at(2), Waits: []string{"answers to Q1, Q2", "a person: it's @bob's"}},
			`**Waiting**

- State: ` + "`waiting`" + ` since 2026-03-04 13:02 UTC
- Waits for: answers to Q1, Q2
- Waits for: a person: it's @ bob's

This comment is kept up to date. ` + "`signalbox explain i`" + ` shows more.
`},
		"done": {rules.Status{Instance: "i", Phase: rules.Done, State: "completed", Since: at(2), Reason: "opened", Pull: 12},
			`**Done**

- State: ` + "`completed`" + ` since 2026-03-04 13:02 UTC
- Reason: opened
- Pull request: #12

This comment is kept up to date. ` + "`signalbox explain i`" + ` shows more.
`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.status.Text()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// hostileStatus has the text wherever a status has words of others.
func hostileStatus(text string) rules.Status {
	s := rules.Status{Instance: text, Phase: rules.Failed, State: text, About: text, Role: text, Agent: text, Reason: text, Pull: 1}
	for range 100 {
		s.Waits = append(s.Waits, text)
		s.Moves = append(s.Moves, rules.Move{From: text, To: text, Reason: text})
	}
	return s
}

func TestAStatusDoesNothingOnAForgeWhateverItRepeats(t *testing.T) {
	own := strings.NewReplacer("<details><summary>Last moves</summary>", "", "</details>", "")
	for name, attack := range attacks {
		body := hostileStatus(attack).Text()
		if strings.Count(body, "\n</details>\n") != 1 {
			t.Errorf("%s: the moves are not folded in\n%s", name, body)
		}
		body = spans.ReplaceAllString(own.Replace(body), "")
		for what, pattern := range live {
			if found := pattern.FindString(body); found != "" {
				t.Errorf("%s: there is %s, %q, in\n%s", name, what, found, body)
			}
		}
	}
}

func TestAStatusFitsIntoAComment(t *testing.T) {
	if n := utf8.RuneCountInString(hostileStatus(strings.Repeat("@eve fixes #3 ", 2_000)).Text()); n > outbound.MaxBody {
		t.Errorf("it has %d characters", n)
	}
}

func TestABareStatusHasNoWordsOfOthers(t *testing.T) {
	s := hostileStatus("x")
	s.Reason, s.Waits, s.Moves[0].Reason = "SECRET", []string{"SECRET"}, "SECRET"
	if text := s.Bare().Text(); strings.Contains(text, "SECRET") || s.Moves[0].Reason != "SECRET" {
		t.Errorf("%s", text)
	}
}
