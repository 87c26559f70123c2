package allinone_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// unpackOlder unpacks the data of an older build. It returns the data directory and the
// directory of what that build printed about it. testdata/older/README.md has the rest.
func unpackOlder(t *testing.T) (data, golden string) {
	t.Helper()
	f, err := os.Open("testdata/older/42d5950.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for files := tar.NewReader(unzipped); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, "data"), filepath.Join(dir, "golden")
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err == nil && h.FileInfo().IsDir() {
			err = os.MkdirAll(name, 0o700)
		} else if err == nil {
			var content []byte
			if content, err = io.ReadAll(files); err == nil {
				err = os.WriteFile(name, content, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// signalbox runs a command line that has to succeed and returns its standard output.
func signalbox(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	terminal := term.Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, User: "operator:ann", Now: time.Now}
	if code := cli.Run(t.Context(), terminal, args); code != 0 {
		t.Errorf("%v ended with %d: %s%s", args, code, &stdout, &stderr)
	}
	return stdout.String()
}

// lines decodes JSON, one value a line.
func lines(t *testing.T, text string) (values []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		values = append(values, v)
	}
	return values
}

// goldenLines reads what the older build printed.
func goldenLines(t *testing.T, dir, name string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return lines(t, string(text))
}

// has reports whether got has all of want: a newer build may print more fields.
func has(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for key, value := range want {
			ok = ok && has(object[key], value)
		}
		return ok
	case []any:
		list, ok := got.([]any)
		ok = ok && len(list) == len(want)
		for i := range want {
			ok = ok && has(list[i], want[i])
		}
		return ok
	}
	return reflect.DeepEqual(got, want)
}

// compare checks that the same lines are printed.
func compare(t *testing.T, what string, got, want []map[string]any) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%s has %d lines, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if !has(got[i], want[i]) {
			t.Errorf("line %d of %s is\n%v, want\n%v", i+1, what, got[i], want[i])
		}
	}
}

func TestTheDataOfAnOlderBuildReadsAsItDidThere(t *testing.T) {
	data, golden := unpackOlder(t)
	compare(t, "audit", lines(t, signalbox(t, "audit", "--json", "--data", data)), goldenLines(t, golden, "audit.json"))
	listed := goldenLines(t, golden, "ls.jsonl")
	compare(t, "ls", lines(t, signalbox(t, "ls", "--all", "--json", "--data", data)), listed)
	var shown, events []map[string]any
	for _, in := range listed {
		id := in["instance"].(string)
		shown = append(shown, lines(t, signalbox(t, "show", id, "--json", "--data", data))...)
		events = append(events, lines(t, signalbox(t, "history", id, "--json", "--data", data))...)
	}
	wantShown := goldenLines(t, golden, "show.jsonl")
	for _, in := range wantShown {
		delete(in, "next_deadline") // depends on the time of the call
	}
	compare(t, "show", shown, wantShown)
	compare(t, "history", events, goldenLines(t, golden, "history.jsonl"))

	copied := filepath.Join(t.TempDir(), "backup")
	signalbox(t, "backup", copied, "--data", data)
	signalbox(t, "backup", copied, "--verify")

	server, err := embedded.Start(embedded.Config{Dir: filepath.Join(data, "log"), Sync: time.Minute, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	verifying := orchestrator.Settings{Verify: true, Watermark: filepath.Join(data, "watermark"), AckWait: time.Minute}
	stop := orchestratortest.Start(t, server.ClientURL(), 1, verifying)
	for _, in := range listed { // the orchestrator acts on leases and deadlines that have passed
		maps.DeleteFunc(in, func(key string, _ any) bool {
			return !slices.Contains([]string{"instance", "workflow", "title", "closed"}, key)
		})
	}
	compare(t, "ls of an orchestrator", lines(t, signalbox(t, "ls", "--all", "--json", "--nats", server.ClientURL())), listed)
	stop()
}

// The agents of the older build were killed while they held claims, and people were
// asked. Both go on, each in a start of its own.
func TestTheWorkOfAnOlderBuildGoesOnToItsEnd(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	data, golden := unpackOlder(t)
	developer := filepath.Join(t.TempDir(), "developer.sh")
	write(t, developer, "sed -i 's|return total / size$|return (total + size - 1) / size|' page/page.go\necho round up\n")
	run := func(test func(*env)) {
		t.Helper()
		var log bytes.Buffer
		err := allinone.Run(t.Context(), allinone.Config{
			Dir: data, Listen: "127.0.0.1:0", Workflow: "issue", Every: 200 * time.Millisecond, Login: "ann",
			Log:   slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
			Flags: service.Flags{Grace: 20 * time.Second},
			Agents: role.Settings{
				Sandbox: "none", Workers: 2, Wall: time.Minute, Idle: time.Minute,
				Brain: []string{"developer=exec:sh " + developer, "fullstack-developer=exec:echo greetings > greeting"},
			},
			Main: func(ctx context.Context, s *allinone.System) error {
				ctx, cancel := context.WithTimeout(ctx, patience)
				defer cancel()
				test(&env{t, ctx, s, client.New(s.NATS, "operator:ann"), data})
				return nil
			},
		})
		if err != nil || t.Failed() {
			t.Errorf("the system ended with %v\n%s", err, log.String())
		}
	}
	run(func(e *env) {
		e.reaches("acme/widgets/4", "completed", 0) // it was claimed
		e.reaches("plan/A", "completed", 0)         // and so was this
	})
	run(func(e *env) {
		ann, err := github.New(github.Config{BaseURL: e.system.Forge.API(), Token: e.system.Forge.Secret})
		if err != nil {
			e.Error(err)
			return
		}
		if _, err := ann.Comment(e.ctx, widgets, 3, fiveAnswers); err != nil {
			e.Error(err)
		}
		e.reaches("acme/widgets/3", "completed", 0)
		for _, id := range []string{"acme/widgets/1", "acme/widgets/4"} {
			if in, err := e.client.Get(e.ctx, id); err != nil || in.GetClosed() != string(instance.Ended) {
				e.Errorf("%s: %v, %s in %s", id, err, in.GetClosed(), in.GetState())
			}
		}
	})
	signalbox(t, "audit", "--data", data)
	first := goldenLines(t, golden, "history.jsonl")
	for i, event := range first {
		if event["instance"] != "acme/widgets/1" {
			first = first[:i]
			break
		}
	}
	compare(t, "history", lines(t, signalbox(t, "history", "acme/widgets/1", "--json", "--data", data)), first)
}

// fiveAnswers answers the five questions that the build before asked.
const fiveAnswers = `Q1: Put 25 lines into ` + "`widgets.txt` and run `widgets -size 10 widgets.txt`" + `.

Q2: Three pages: the third with the last 5 widgets.

Q3: Only page 1 and page 2 are printed. The last 5 widgets are missing.

Q4: The package ` + "`page`, function `Count`" + `. With 20 widgets all is well.

Q5: Every widget is on exactly one page: 25 widgets at 10 a page are 3 pages, 20 are 2, none are 0.
`
