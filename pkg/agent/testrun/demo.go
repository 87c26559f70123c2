package testrun

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

const (
	demoTimeout  = time.Minute // of a demonstration without a configured timeout
	maxDemo      = 256 << 10   // bytes of its output that are kept
	maxDemoLines = 40          // of the output in evidence; each has maxLine characters
	maxPicture   = 2 << 20     // bytes of a picture
	maxSide      = 4096        // pixels of a picture, across and down
)

// Demo is the demonstration that a ConfigFile names: a command, and the page that it serves, if it
// serves one.
type Demo struct {
	Plan
	Port int    // 0: the command serves nothing, and ends by itself
	Page string // its path, such as /login
}

// demonstration is a Demo as a ConfigFile has it.
type demonstration struct {
	Command string  `yaml:"command"`
	Timeout timeout `yaml:"timeout"`
	Port    int     `yaml:"port"`
	Page    string  `yaml:"page"`
}

// page matches the path of a page, with its query.
var page = lazyregexp.New(`^/[\w/.~%:@!$&'()*+,;=?-]*$`)

func (d demonstration) check() error {
	switch {
	case strings.TrimSpace(d.Command) == "":
		return fmt.Errorf(`%s: demo has no command; write: demo: {command: "…"}`, ConfigFile)
	case d.Page != "" && d.Port == 0:
		return fmt.Errorf("%s: demo has a page and no port; name the port that its command serves the page on", ConfigFile)
	case d.Port < 0 || d.Port > 65535:
		return fmt.Errorf("%s: demo has the port %d; a port is a number from 1 to 65535", ConfigFile, d.Port)
	case d.Page != "" && !page.MatchString(d.Page):
		return fmt.Errorf("%s: demo has the page %q; write a path such as /login", ConfigFile, d.Page)
	}
	return nil
}

// ReadDemo returns the demonstration of the content of a ConfigFile; nil if it has none. An error
// names the file.
func ReadDemo(content []byte) (*Demo, error) {
	var d Demo
	plan, found, err := parseConfig(content, func(c config) (string, *command) {
		if c.Demo == nil {
			return "demo", nil
		}
		if d.Port = c.Demo.Port; d.Port != 0 {
			d.Page = cmp.Or(c.Demo.Page, "/")
		}
		return "demo", &command{c.Demo.Command, c.Demo.Timeout}
	})
	if err != nil || !found {
		return nil, err
	}
	plan.Timeout = cmp.Or(plan.Timeout, demoTimeout)
	d.Plan = plan.complete()
	return &d, nil
}

// Chromium returns the program that makes pictures of pages; "" if none is installed.
func Chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	return ""
}

// Shown is one run of a demonstration, with all that it left.
type Shown struct {
	instance.DemoRun        // without artifacts
	Whole            []byte // the output
	Picture          []byte // PNG; nil: none was made
}

// Exit codes of serve.
const (
	portTaken   = 90
	neverServed = 91
)

// serve runs a command ($2) until it serves a port ($1, in hexadecimal), and then the program that
// makes a picture, if there is one. The sandbox ends the command.
const serve = `port=$1 command=$2; shift 2
listens() { cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ":$port [0-9A-F]*:0000 0A "; }
if listens; then exit 90; fi
sh -c "$command" &
server=$!
until listens; do
  kill -0 $server 2>/dev/null || { wait $server; code=$?; [ $code = 0 ] && code=91; exit $code; }
  sleep 0.1
done
[ $# = 0 ] || timeout 30 "$@" >/dev/null 2>&1
exit 0`

// picture is the file that Chromium leaves at the root of the tree, and profile its directory.
const (
	picture = ".signalbox-demo.png"
	profile = ".signalbox-demo-profile"
)

// Show runs the demonstration in dir, which has the commit checked out. However the command ends is
// a run; the error means that it was not started, or is the cause of the context's end.
func (d Demo) Show(ctx context.Context, dir, commit, chromium string, runner Runner) (Shown, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Shown{}, err
	}
	defer root.Close()
	c := sandbox.Command{Argv: d.Argv, Dir: dir, Env: d.environ(), Wall: d.Timeout, MaxOutput: maxDemo}
	if d.Port != 0 {
		c.Argv = []string{"sh", "-c", serve, "sh", fmt.Sprintf("%04X", d.Port), d.Command()}
		if chromium != "" {
			c.Argv = append(c.Argv, d.photograph(dir, chromium)...)
			c.Readable = []string{"/etc/chromium", "/etc/chromium.d", "/etc/fonts"}
			if real, err := filepath.EvalSymlinks(chromium); err == nil {
				c.Readable = append(c.Readable, filepath.Dir(real)) // it may be installed in a directory of its own
			}
		}
	}
	forget := func() {
		_, _ = root.RemoveAll(picture), root.RemoveAll(profile) // what stays goes with the tree
	}
	forget()
	defer forget()
	res, err := runner.Run(ctx, c)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Shown{}, fmt.Errorf("run the demonstration %s on %s: %w", d.Command(), commit, err)
	}
	out := clean(string(res.Output), dir)
	s := Shown{Whole: []byte(out), DemoRun: instance.DemoRun{Commit: commit, Ended: d.ended(res), Output: strings.Join(clip(out, maxDemoLines), "\n")}}
	if d.Port != 0 && chromium == "" {
		s.NoPicture = "no Chromium is installed where the tests run"
	} else if d.Port != 0 {
		if s.Picture = readPicture(root); s.Picture == nil {
			s.NoPicture = "Chromium made no picture of " + d.Page
			if res.Mode == sandbox.Landlock {
				s.NoPicture += "; it needs the sandbox bwrap, and this is landlock"
			}
		}
	}
	return s, nil
}

// photograph is the command line that makes the picture. Chromium runs in the sandbox of the
// command, where its own sandbox does not work.
func (d Demo) photograph(dir, chromium string) []string {
	return []string{chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
		"--window-size=1200,800", "--virtual-time-budget=5000", "--user-data-dir=" + filepath.Join(dir, profile),
		"--screenshot=" + filepath.Join(dir, picture), "http://localhost:" + strconv.Itoa(d.Port) + d.Page}
}

// ended describes for people how a run ended.
func (d Demo) ended(res sandbox.Result) string {
	switch {
	case d.Port == 0:
	case res.OK():
		return "served port " + strconv.Itoa(d.Port)
	case res.ExitCode == portTaken:
		return fmt.Sprintf("not run: another program serves port %d here", d.Port)
	case res.ExitCode == neverServed:
		return fmt.Sprintf("ended before it served port %d", d.Port)
	}
	return res.String()
}

// readPicture returns the picture that was left in a tree, nil if it is none. A hostile
// command may have left it.
func readPicture(root *os.Root) []byte {
	if info, err := root.Lstat(picture); err != nil || !info.Mode().IsRegular() || info.Size() > maxPicture {
		return nil
	}
	f, err := root.Open(picture)
	if err != nil {
		return nil
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxPicture))
	if err != nil {
		return nil
	}
	if size, err := png.DecodeConfig(bytes.NewReader(content)); err != nil || size.Width > maxSide || size.Height > maxSide {
		return nil
	}
	return content
}
