package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// misbehavingScript is a developer's brain that misbehaves as the issue's title
// says.
const misbehavingScript = `
once() { [ "$SIGNALBOX_STATE" = implementing ] && [ "$SIGNALBOX_ATTEMPT" = 1 ]; }
case $(grep -m 1 '"title"' "$SIGNALBOX_ASSIGNMENT") in
*crashes*)  echo 'about to fall over'; kill -SEGV $$ ;;
*hangs*)    sleep 1000 ;;
*chatters*) while once; do echo 'still at it'; sleep 0.2; done ;;
*floods*)   head -c 100000000 /dev/zero | tr '\0' x ;;
*lazes*)    echo 'all done'; exit 0 ;;
*strays*)   set -e; once && echo gotcha > "${0%/*}/outside" && echo gotcha > /usr/outside ;;
*links*)    once && ln -sf /etc/passwd answer.txt && exit 0 ;;
*babbles*)  once && echo '{"status": "splendid"}' > "$SIGNALBOX_RESULT" ;;
*doubts*)   echo 42 > answer.txt; c=0.95; once && c=0.7
            echo '{"status": "success", "confidence_score": '$c', "summary": "42 it is"}' > "$SIGNALBOX_RESULT"; exit 0 ;;
*meddles*)  once && mkdir -p .github/workflows && echo 'on: push' > .github/workflows/own.yml ;;
esac
` + fixScript

// TestAMisbehavingBrainFailsClearly runs programs as brains that crash, hang, flood
// their output or leave their tree. The history says what was wrong, and the run
// ends or asks people.
func TestAMisbehavingBrainFailsClearly(t *testing.T) {
	t.Parallel()
	s := startEnv(t, envConfig{Developer: misbehavingScript, Args: map[string][]string{
		"developer": {"--workers", "4", "--brain-wall", "15s", "--brain-idle", "4s"}, "tester": {"--workers", "2"},
	}})
	cases := map[string]struct {
		says string // in the summary of the first failure, a commit's name as …; empty: there is no failure
		end  string // the final state; people: they are asked
		n    int
	}{
		"it crashes":        {says: "SIGSEGV", end: "people"},
		"it hangs":          {says: "sh was stopped after printing nothing for 4s (idle time limit); it printed nothing", end: "people"},
		"it chatters":       {says: "sh was stopped after 15s (wall time limit); its last line: still at it", end: "people"},
		"it lazes":          {says: "developer reports success and left no change", end: "failed"},
		"it babbles":        {end: "completed"}, // its change is taken
		"it links":          {says: "answer.txt in commit …: symbolic link leads out of the tree, to /etc/passwd (link)", end: "completed"},
		"it meddles":        {says: ".github/workflows/own.yml in commit …: no change may touch .github/workflows/** (forbidden)", end: "completed"},
		"it floods a while": {end: "completed"},
		"it doubts":         {end: "completed"},
	}
	says := map[string]string{"bwrap": "Read-only file system", "landlock": "Permission denied"}
	box := s.processes["developer"].expect(t, `"msg":"sandbox"`)
	for mode, says := range says {
		if strings.Contains(box, `"mode":"`+mode+`"`) {
			c := cases["it babbles"]
			c.says, c.end = says, "people"
			cases["it strays"] = c
		}
	}
	if _, confined := cases["it strays"]; !confined {
		t.Log("nothing here keeps a brain from writing outside its work tree")
	}
	for title, c := range cases {
		c.n = s.forge.openIssue(t, title, completeReport)
		cases[title] = c
	}
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			asked := func(f *logFollower) bool { _, held := f.instances[instanceID(c.n)].Escalation(); return held }
			s.log.await(t, "the end", func(f *logFollower) bool { return asked(f) || hasEnded(instanceID(c.n))(f) })
			first, artifacts := firstFailure(s.log.commitsOf(instanceID(c.n)))
			first = regexp.MustCompile(`commit [0-9a-f]{12}`).ReplaceAllString(first, "commit …")
			if !strings.Contains(first, c.says) || c.says == "" && first != "" {
				t.Errorf("the first failure says %q, want %q", first, c.says)
			}
			end := s.log.get(instanceID(c.n))
			if _, held := end.Escalation(); held != (c.end == "people") {
				t.Errorf("people are asked: %v", held)
			}
			if c.end != "people" && end.State != c.end || end.State == "failed" && end.Reason != "the same failure came back and nothing changed" {
				t.Errorf("it ended in %s: %s", end.State, end.Reason)
			}
			for _, a := range artifacts {
				if a.Size > 2<<20 {
					t.Errorf("%d bytes of output are kept", a.Size)
				}
			}
		})
	}
	for _, dir := range []string{s.dir, "/usr"} {
		if _, err := os.Stat(filepath.Join(dir, "outside")); err == nil {
			t.Error("a brain wrote outside its work tree, to", dir)
		}
	}
	s.log.checkLog(t)
}

// firstFailure returns the summary of the first failed result, and the artifacts of
// all results.
func firstFailure(commits []instance.Commit) (first string, artifacts []instance.Artifact) {
	for _, c := range commits {
		for _, e := range c.Events {
			if r, ok := e.(instance.Reported); ok {
				artifacts = append(artifacts, r.Result.Artifacts...)
				if first == "" && r.Result.Status == instance.Failure {
					first = r.Result.Summary
				}
			}
		}
	}
	return first, artifacts
}
