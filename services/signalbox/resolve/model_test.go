package resolve_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// pages is the demonstration's issue, as a person reports it who is asked nothing more.
const pages = `# The last page is missing

Steps: put 25 lines into widgets.txt and run "widgets -size 10 widgets.txt". It prints page 1 and page 2. Expected: it prints three pages,
the third with 5 widgets. The function is Count in page/page.go.
It is done when every widget is on exactly one page, and 20 widgets at 10 a page are 2 pages.
`

func asset(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "demo", "asset", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// script is a model that goes by the role and the state in its prompt.
func script(states map[string][]modeltest.Turn) modeltest.Script {
	return func(r modeltest.Request) modeltest.Turn {
		for state, turns := range states {
			if strings.Contains(r.Prompt, state) {
				return turns[min(len(r.Calls), len(turns)-1)]
			}
		}
		return modeltest.Turn{Text: fmt.Sprintf("what is this? %.200s", r.Prompt)}
	}
}

func read(path string) modeltest.Turn {
	return modeltest.Calling("read", map[string]any{"path": path})
}

func write(path, content string) modeltest.Turn {
	return modeltest.Calling("write", map[string]any{"path": path, "content": content})
}

func edit(path, old, now string) modeltest.Turn {
	return modeltest.Calling("edit", map[string]any{"path": path, "old": old, "new": now})
}

func run(command string) modeltest.Turn {
	return modeltest.Calling("run", map[string]any{"command": command})
}

func done(summary string) modeltest.Turn {
	return modeltest.Calling("finish", map[string]any{"status": "success", "summary": summary, "confidence_score": 0.95})
}

// models are brains of each API, for the states of the developer and the tester.
func models() []string {
	return []string{"--brain", "tester.creating_tests=model:openai-chat/gpt-4o", "--brain",
		"developer.implementing=model:anthropic/claude-opus-4-5",
		"--brain", "developer.fixing_issues=model:openai/gpt-5"}
}

// solved runs the models on an issue in the sandbox, and checks that they were asked and paid.
func (j job) solved(issue string, script modeltest.Script) {
	j.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		j.Skip("bubblewrap is not installed")
	}
	j.sandbox = "bwrap"
	s := modeltest.New(j, script)
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": s.URL, "ANTHROPIC_API_KEY": "key", "OPENAI_BASE_URL": s.URL + "/v1", "OPENAI_API_KEY": "key",
	} {
		j.Setenv(name, value)
	}
	out, said, code := j.call(append([]string{"resolve", "--issue", j.file("issue.md", issue)}, models()...)...)
	if code != 0 || out.State != "completed" || out.Tests == nil || !out.Tests.OK {
		j.Fatalf("it ended with %d, %+v\n%s", code, out, said)
	}
	apis := map[modeltest.API]int{}
	for _, r := range s.Requests() {
		apis[r.API]++
	}
	if apis[modeltest.Chat] != 3 || apis[modeltest.Messages] != 4 || apis[modeltest.Responses] != 4 {
		j.Errorf("the models were asked %v times", apis)
	}
	if out.Spend.TokensIn != 11*1120 || out.Spend.TokensOut != 11*50 || out.Spend.USD == 0 {
		j.Errorf("it cost %+v", out.Spend)
	}
}

func TestModelsOfEachAPIResolveAnIssueInTheSandbox(t *testing.T) {
	newJob(t).solved(clear, script(map[string][]modeltest.Turn{
		"tester: creating_tests":  {read("check.sh"), write("check.sh", "grep -qx 'hello, world' greeting\n"), done("test the whole greeting")},
		"developer: implementing": {read("greeting"), edit("greeting", "hello", "hello world"), run("sh check.sh"), done("greet the world")},
		"developer: fixing_issues": {read("greeting"), edit("greeting", "hello world", "hello, world"), run("sh check.sh"),
			done("put the comma")},
	}))
}

// The demonstration's repository is Go, which an empty cache compiles for half a minute.
func TestModelsOfEachAPISolveTheDemonstrationsIssueInTheSandbox(t *testing.T) {
	if os.Getenv("SIGNALBOX_MODELS") == "" {
		t.Skip("set SIGNALBOX_MODELS, or make models")
	}
	j := newJob(t)
	g := gittest.Repo(t)
	j.repo = g.Dir()
	if err := txtar.Write(txtar.Parse([]byte(asset(t, "widgets.txtar"))), j.repo); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	_, test, _ := strings.Cut(asset(t, "tester.sh"), "<<'GO'\n")
	test, _, _ = strings.Cut(test, "GO\n")
	const file, wrong, right = "page/page.go", "return total/size + 1\n", "return (total + size - 1) / size\n"
	j.solved(pages, script(map[string][]modeltest.Turn{
		"tester: creating_tests": {read(file), write("page/partial_test.go", test), done("test that the last, partial page is counted")},
		"developer: implementing": {read(file), edit(file, "return total / size\n", wrong), run("go vet ./page"),
			done("count the partial page")},
		"developer: fixing_issues": {read(file), edit(file, wrong, right), run("go vet ./page"), done("round up instead of adding a page")},
	}))
}
