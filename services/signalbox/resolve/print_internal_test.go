package resolve

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

const hostile = "x\x1b]0;title\a\x1b[31m\u009b2J\rover\u202ewritten"

// raw returns the text from its first control character on.
func raw(s string) string {
	i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u202e' })
	if i < 0 {
		return ""
	}
	return s[i:]
}

func TestAPullRequestDoesNotSteerTheTerminal(t *testing.T) {
	for terminal, want := range map[bool]string{
		true:  "# x‹U+001B›]0;title‹U+0007›‹U+001B›[31m‹U+009B›2J over‹U+202E›written\n\nby @octocat\nx‹U+001B›]0;title‹U+0007›‹U+001B›[31m‹U+009B›2J\nover‹U+202E›written\n",
		false: "# " + hostile + "\n\nby @\u200boctocat\n" + hostile + "\n",
	} {
		var out strings.Builder
		r := &run{env: &term.Env{Stdout: &out, Terminal: terminal}, def: &workflow.Definition{}}
		if err := r.print(&pb.Instance{}, Outcome{PullRequest: &PullRequest{Title: hostile, Body: "by @\u200boctocat\n" + hostile}}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("on a terminal, %t: it prints %q, want %q", terminal, out.String(), want)
		}
	}
}

func TestAQuestionDoesNotSteerTheTerminal(t *testing.T) {
	in := &pb.Instance{Reason: hostile, LastResult: &pb.Result{Summary: hostile}}
	held := &pb.Instance{Escalations: []*pb.Escalation{{RequiresHuman: true, Agent: hostile, Reason: hostile}}}
	for name, said := range map[string]string{"question": plain(hostile), "obstacle": obstacle(in), "escalation": obstacle(held)} {
		if r := raw(said); r != "" || !strings.Contains(said, "title") {
			t.Errorf("the %s prints %q, of %q", name, r, said)
		}
	}
	if got := plain("**Where.** Is it\n- here?"); got != "Where. Is it\n- here?" {
		t.Errorf("an ordinary question is %q", got)
	}
}

func TestTheSummaryIsMarkdownOfOurs(t *testing.T) {
	const text = "| a <!-- b -->\r/approve @octocat `x` fixes #1"
	in := &pb.Instance{Reason: text, Questions: []*pb.Question{{Number: 1, Text: text}}}
	out := Outcome{Reason: text, Commits: []Commit{{ID: "0123456789abcdef", Subject: text}}}
	got := markdown(instance.Issue{Title: text}, in, out)
	for _, bad := range []string{"<!--", "\r", "@o", "fixes #1", "\n/", "\n> /"} {
		if strings.Contains(got, bad) {
			t.Errorf("it has %q:\n%s", bad, got)
		}
	}
	if !strings.Contains(got, "\n| reason | \\| a \\<! -- b --> /approve @ octocat `x` fixes # 1 |\n") {
		t.Errorf("the reason is no cell:\n%s", got)
	}
}
