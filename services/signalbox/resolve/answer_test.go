package resolve_test

import (
	"strings"
	"testing"
)

const (
	vague   = "# The greeting is too short\n\nPlease have a look.\n"
	answers = `Q1: it prints "hello"
Q2: it prints "hello, world"
Q3: run "cat greeting"
`
)

func TestARemarkAnswersNothingAndWhatIsAnsweredIsNotAskedAgain(t *testing.T) {
	j := newJob(t)
	report := j.file("issue.md", vague)
	call := func(words string) (said, state string, code int) {
		args := []string{"resolve", "--issue", report, "--brain", `developer=exec:echo hello, world > greeting`}
		if words != "" {
			args = append(args, "--answers", j.file("answers.md", words))
		}
		out, said, code := j.call(args...)
		return said, out.State, code
	}
	const waits = "waiting_for_requirements_clarification"
	if said, state, code := call(""); code != 3 || state != waits || !strings.Contains(said, "Q3") || strings.Contains(said, "Q4") {
		t.Fatalf("it ended with %d in %s\n%s", code, state, said)
	}
	for _, remark := range []string{"Thanks, I will look tomorrow.", "@bob can you tell?", "/pause"} {
		if said, state, code := call(remark); code != 3 || state != waits || strings.Contains(said, "Answered") || strings.Contains(said, "requirements_clarified") {
			t.Fatalf("after %q it ended with %d in %s\n%s", remark, code, state, said)
		}
	}
	if said, state, code := call("It is about the shop of last year."); code != 3 || state != waits || strings.Contains(said, "Q4") {
		t.Fatalf("after words that answer nothing it ended with %d in %s\n%s", code, state, said)
	}
	if said, state, code := call(answers); code != 0 || state != "completed" || strings.Contains(said, "Q4") {
		t.Errorf("with answers it ended with %d in %s\n%s", code, state, said)
	}
}

func TestTheBrainOfThePMReadsAnswersThatNameNoQuestion(t *testing.T) {
	j := newJob(t)
	report := j.file("issue.md", vague)
	reader := j.file("pm.sh", `for n in 1 2 3; do a="$a,{\"question\": $n, \"text\": \"so und so\"}"; done
echo "{\"status\": \"success\", \"answers\": [${a#,}]}" > "$SIGNALBOX_RESULT"
`)
	brains := []string{"resolve", "--issue", report, "--brain", `developer=exec:echo hello, world > greeting`, "--brain", "pm=exec:sh " + reader}
	if out, said, code := j.call(brains...); code != 3 || out.State != "waiting_for_requirements_clarification" {
		t.Fatalf("it ended with %d in %s\n%s", code, out.State, said)
	}
	out, said, code := j.call(append(brains, "--answers", j.file("answers.md", "Ganz einfach, so und so.\n"))...)
	if code != 0 || out.State != "completed" || strings.Contains(said, "Q4") {
		t.Errorf("it ended with %d in %s\n%s", code, out.State, said)
	}
}
