package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
)

// workerScript is the brain of all roles that change code. It behaves as the title
// says.
const workerScript = `
set -e
title=$(grep -m 1 '"title"' "$SIGNALBOX_ASSIGNMENT")
has() { grep -q "$1" "$SIGNALBOX_ASSIGNMENT"; }
say() { printf '%s' "$1" > "$SIGNALBOX_RESULT"; exit 0; }
first() { [ "$SIGNALBOX_ATTEMPT" = 1 ] && [ "$SIGNALBOX_STATE" != fixing_issues ] && [ "$SIGNALBOX_STATE" != pushed ]; }
word=right
case $title in
*clumsy*)   first && word=wrong ;;
*marked*)   first && word=FIXME ;;
*curious*)  has '"answered": true' || say '{"status": "success", "asks": [{"to": "analyst", "question": "Which of them?"}]}' ;;
*stuck*)    has '"resolved": true' || say '{"status": "blocked", "escalate": {"reason": "a person has to say which", "requires_human": true}}' ;;
*guided*)   has '"guidance"' || say '{"status": "failure", "summary": "no idea"}' ;;
*lost*)     has 'try harder' || say '{"status": "failure", "summary": "no idea"}' ;;
*slow*)     sleep 5 ;;
esac
name=$(printf %s "$SIGNALBOX_INSTANCE" | tr -c 'a-zA-Z0-9' -)
mkdir -p work tests
[ "$SIGNALBOX_STATE" = pushed ] && echo more >> "work/$name.txt" || echo "$word $SIGNALBOX_STATE $SIGNALBOX_ATTEMPT" > "work/$name.txt"
echo "grep -q . work/$name.txt" > "tests/test_$name.sh"
echo "it is $word"
`

// checkScript is the repositories' test. It fails for the work of a clumsy brain.
const checkScript = "! grep -rnw wrong work\n"

// seedRepo returns the repository that every other starts from.
func (e *chaosEnv) seedRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		".signalbox.yaml": "test: {command: sh check.sh}\n", "check.sh": checkScript, "work/none.txt": "right\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g := git.New(dir).WithIdentity("ann", "ann@example.com")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Begin"}} {
		if _, err := g.Run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Lifecycles with deadlines that pass, with and without a reaction.
const (
	issueWithDeadlines = `
workflow: issue
version: 2
extends: issue
states:
  waiting_for_requirements_clarification:
    timeout: 6s
    on: {timeout_escalation: [{to: blocked, reason: no answer arrived in time}]}
`
	// Its result is merged by a story that it opens.
	navigatorHandingOver = `
workflow: issue-navigator
version: 2
extends: issue-navigator
policy: {hand_over: true, unproven: allow}
`
	pipelineWithDeadlines = `
workflow: pipeline
version: 2
extends: pipeline
states:
  triage: {timeout: 2s}
  analyst: {timeout: 2s}
  writer: {timeout: 2s}
  committer: {timeout: 2s}
`
	taskWithDeadlines = `
workflow: task
version: 2
extends: task
states:
  planning: {timeout: 2s}
  in_progress: {timeout: 2s}
  committing: {timeout: 2s}
`
	storyWithDeadlines = `
workflow: story
version: 2
extends: story
policy: {check_every: 15s, watch_merge: false, unproven: allow} # the tests of the repository pass without a change
states:
  pending: {timeout: 2s}
  committed: {timeout: 2s}
`
)

// scenario is one way an instance goes. The title tells its brain and its people
// what to do.
type scenario struct {
	lifecycle string
	behaviour string
	vague     bool   // people are asked for the requirements
	wantState string // final state; empty: any
}

// scenarios returns all scenarios.
func scenarios() []scenario {
	return []scenario{
		{"issue", "plain", true, "completed"}, {"pipeline", "marked", false, "completed"}, {"story", "reviewed", false, "merged"},
		{"task", "guided", false, "completed"},
		{"issue", "clumsy", false, "completed"}, {"pipeline", "stuck", false, "completed"}, {"story", "plain", false, "merged"},
		{"task", "lost", false, "completed"},
		{"issue-navigator", "clumsy", false, "completed"}, {"pipeline", "curious", false, "completed"}, {"story", "remarked", false, "merged"},
		{"task", "plain", false, "completed"},
		{"issue-navigator", "marked", true, "completed"}, {"pipeline", "clumsy", false, "completed"}, {"story", "closed", false, "invalid"},
		{"task", "clumsy", false, "completed"},
		{"issue", "lost", false, "failed"}, {"pipeline", "terse", true, "completed"}, {"story", "clumsy", false, "merged"},
		{"task", "marked", false, "completed"},
		{"issue", "slow", false, "completed"}, {"pipeline", "lost", false, "failed"}, {"story", "stuck", false, "merged"},
		{"task", "stuck", false, "completed"},
		{"issue-navigator", "plain", false, "completed"}, {"pipeline", "unwanted", false, "failed"}, {"story", "slow", false, "merged"},
		{"task", "slow", false, "completed"},
	}
}
