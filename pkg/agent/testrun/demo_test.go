package testrun_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

func TestADemonstrationIsReadFromTheConfiguration(t *testing.T) {
	for name, c := range map[string]struct{ content, command, page, wrong string }{
		"none":                {"test: {command: x}\n", "", "", ""},
		"a command":           {"demo: {command: make demo}\n", "make demo", "", ""},
		"a page":              {"demo: {command: serve, port: 8080, page: \"/a?b=c\"}\n", "serve", "/a?b=c", ""},
		"a port alone":        {"demo: {command: serve, port: 8080}\n", "serve", "/", ""},
		"no command":          {"demo: {port: 8080}\n", "", "", `.signalbox.yaml: demo has no command; write: demo: {command: "…"}`},
		"a page without port": {"demo: {command: serve, page: /}\n", "", "", ".signalbox.yaml: demo has a page and no port; name the port that its command serves the page on"},
		"a port that is none": {"demo: {command: serve, port: 70000}\n", "", "", ".signalbox.yaml: demo has the port 70000; a port is a number from 1 to 65535"},
		"another host":        {"demo: {command: serve, port: 80, page: \"http://a.example/\"}\n", "", "", `.signalbox.yaml: demo has the page "http://a.example/"; write a path such as /login`},
		"an unknown key":      {"demo: {command: x, url: /}\n", "", "", `.signalbox.yaml:1: unknown field "url"; known are setup, test, lint, type_check and demo`},
		"a text":              {"demo: make demo\n", "", "", `.signalbox.yaml:1: this does not belong here`},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := testrun.ReadDemo([]byte(c.content))
			if c.wrong != "" {
				if err == nil || !strings.HasPrefix(err.Error(), c.wrong) {
					t.Errorf("got  %v\nwant %s", err, c.wrong)
				}
				if _, err := testrun.ReadSettings([]byte(c.content)); err == nil {
					t.Error("the file counts as right where its tests are read")
				}
				return
			}
			if err != nil || (d == nil) != (c.command == "") {
				t.Fatalf("got %+v, %v", d, err)
			}
			if d != nil && (d.Command() != c.command || d.Page != c.page || d.Timeout != time.Minute) {
				t.Errorf("got %+v", d)
			}
		})
	}
}

// server is a program that serves a page on a port.
const server = `import http.server, sys
print("ready", flush=True)
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"<h1>Total: 5</h1>")
    def log_message(self, *args): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
`

func TestADemonstrationShowsWhatItsCommandPrints(t *testing.T) {
	served, never, failed := porttest.Reserve(t), porttest.Reserve(t), porttest.Reserve(t)
	for name, c := range map[string]struct{ content, ended, output, noPicture string }{
		"it ends":                 {"demo: {command: echo 5}\n", "exit code 0", "5", ""},
		"it fails":                {"demo: {command: \"echo no; exit 3\"}\n", "exit code 3", "no", ""},
		"it colours":              {"demo: {command: \"printf '\\\\033[31m5\\\\033[0m\\\\n'\"}\n", "exit code 0", "5", ""},
		"it names its place":      {"demo: {command: \"echo $PWD/a\"}\n", "exit code 0", "a", ""},
		"it is a server":          {fmt.Sprintf("demo: {command: python3 server.py %d, port: %d}\n", served, served), fmt.Sprint("served port ", served), "ready", "no Chromium is installed where the tests run"},
		"it is too slow":          {"demo: {command: \"echo a; sleep 60\", timeout: 300ms}\n", "stopped after 300ms (wall time limit)", "a", ""},
		"it never serves":         {fmt.Sprintf("demo: {command: echo a, port: %d}\n", never), fmt.Sprint("ended before it served port ", never), "a", "no Chromium is installed where the tests run"},
		"it fails and serves not": {fmt.Sprintf("demo: {command: \"echo a; exit 4\", port: %d}\n", failed), "exit code 4", "a", "no Chromium is installed where the tests run"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := testrun.ReadDemo([]byte(c.content))
			if err != nil {
				t.Fatal(err)
			}
			shown, err := d.Show(t.Context(), write(t, "server.py", server), "c1", "", sandbox.Sandbox{})
			if err != nil || shown.Ended != c.ended || shown.Output != c.output || shown.NoPicture != c.noPicture || shown.Picture != nil {
				t.Errorf("got %+v, %v", shown, err)
			}
		})
	}
}

func TestTheOutputOfADemonstrationIsBounded(t *testing.T) {
	d, err := testrun.ReadDemo([]byte("demo: {command: seq 1 200000}\n"))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := d.Show(t.Context(), t.TempDir(), "c1", "", sandbox.Sandbox{})
	if err != nil || len(shown.Whole) > 300<<10 || strings.Count(shown.Output, "\n") > 41 || !strings.HasSuffix(shown.Output, "\n200000") {
		t.Errorf("%d bytes are kept, of them shown: %s, %v", len(shown.Whole), shown.Output, err)
	}
}

func TestAPageIsPhotographedInTheSandboxOfTests(t *testing.T) {
	chromium := testrun.Chromium()
	if chromium == "" {
		t.Skip("no Chromium here: no picture is made")
	}
	port := porttest.Reserve(t)
	d, err := testrun.ReadDemo(fmt.Appendf(nil, "demo: {command: python3 server.py %d, port: %d, page: /total}\n", port, port))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []sandbox.Mode{sandbox.None, sandbox.Bwrap} {
		t.Run(string(mode), func(t *testing.T) {
			box, err := sandbox.New(t.Context(), mode)
			if err != nil {
				t.Skip(err)
			}
			dir := write(t, "server.py", server)
			shown, err := d.Show(t.Context(), dir, "c1", chromium, box)
			if err != nil || len(shown.Picture) == 0 || shown.NoPicture != "" || shown.Ended != fmt.Sprint("served port ", port) {
				t.Fatalf("got %+v, %v", shown.DemoRun, err)
			}
			if left, err := filepath.Glob(filepath.Join(dir, ".signalbox-demo*")); err != nil || len(left) > 0 {
				t.Errorf("%v stay, %v", left, err)
			}
		})
	}
}

// plants leaves a file where the picture belongs.
type plants struct {
	dir, content, link string
}

func (p plants) Run(context.Context, sandbox.Command) (sandbox.Result, error) {
	file := filepath.Join(p.dir, ".signalbox-demo.png")
	if p.link != "" {
		return sandbox.Result{}, os.Symlink(p.link, file)
	}
	return sandbox.Result{}, os.WriteFile(file, []byte(p.content), 0o644)
}

func TestNothingButAPictureIsTakenForOne(t *testing.T) {
	secret := filepath.Join(write(t, "secret.png", "\x89PNG\r\n\x1a\n"), "secret.png")
	d, err := testrun.ReadDemo([]byte("demo: {command: x, port: 80}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]plants{
		"no file of this kind": {content: "<script>"}, "a link out of the tree": {link: secret}, "a large file": {content: strings.Repeat("x", 3<<20)},
	} {
		p.dir = t.TempDir()
		shown, err := d.Show(t.Context(), p.dir, "c1", "/usr/bin/chromium", p)
		if err != nil || shown.Picture != nil || shown.NoPicture != "Chromium made no picture of /" {
			t.Errorf("%s: got %+v, %v", name, shown.DemoRun, err)
		}
	}
}
