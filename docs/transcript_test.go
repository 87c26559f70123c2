package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

// prompt begins a command of a transcript.
const prompt = "$ "

func TestTranscriptsHappenAsThePagesSay(t *testing.T) {
	for name := range needs {
		if _, plays := played[name]; !plays {
			t.Errorf("%s needs programs, and is not played", name)
		}
	}
	for name, text := range pages(t) {
		var blocks []string
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(block[2], prompt) {
				blocks = append(blocks, block[2])
			}
		}
		setup, plays := played[name]
		switch _, excused := unplayed[name]; {
		case blocks == nil || excused:
			continue
		case !plays:
			t.Errorf("%s has a transcript that nobody runs", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, tool := range tools(name, strings.Join(blocks, "")) {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("%s is not installed, and the commands of %s need it", tool, name)
				}
			}
			p := newPlay(t, setup)
			for _, block := range blocks {
				for _, step := range strings.Split("\n"+block, "\n"+prompt)[1:] {
					command, says, _ := strings.Cut(step, "\n")
					p.step(command, says)
				}
			}
		})
	}
}

// tools are the programs of others that the commands of a page need.
func tools(page, commands string) []string {
	all := needs[page]
	for _, tool := range []string{"curl", "jq"} {
		if strings.Contains(commands, tool+" ") {
			all = append(all, tool)
		}
	}
	return all
}

// A play runs the commands of one page in a directory of its own.
type play struct {
	*testing.T
	dir     string
	user    string // whom the pages call ann
	env     []string
	defined string   // what the commands so far have set in the shell
	status  int      // what the last one ended with
	system  *process // that the page began in the background
}

func newPlay(t *testing.T, setup string) *play {
	address := porttest.Address(t)
	who, err := osuser.Current()
	if err != nil {
		t.Fatal(err)
	}
	p := &play{T: t, dir: t.TempDir(), user: who.Username, env: append(os.Environ(),
		"PATH="+filepath.Dir(binary(t, "signalbox"))+":"+os.Getenv("PATH"), "COLUMNS=", "HOME="+t.TempDir(), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOPATH="+goEnv(t, "GOPATH"),
		"SIGNALBOX_LISTEN="+address, "SIGNALBOX_NATS=nats://"+address)}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	if out := p.shell("set -e\ndocs='" + here + "'\n" + setup).wait(); out != "" {
		t.Fatal(out)
	}
	return p
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

var (
	printed = regexp.MustCompile(`^cat (\S+)$`)
	defines = regexp.MustCompile(`^(\w+=\S+|\w+\(\) \{.*)`)
	queries = regexp.MustCompile(`^(signalbox (ls|explain|history|prd export)|call .*jq|git) `)
	user    = regexp.MustCompile(`(as |operator:|\n)ann\b`)
	forge   = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	serves  = regexp.MustCompile(`(?m)^forge +(http://127\.0\.0\.1:\d+)`) // up
)

// step runs a command, and checks that it prints what the page says.
func (p *play) step(command, says string) {
	p.Helper()
	if file := printed.FindStringSubmatch(command); file != nil {
		if _, err := os.Stat(filepath.Join(p.dir, file[1])); err != nil {
			_ = os.WriteFile(filepath.Join(p.dir, file[1]), []byte(says), 0o755)
			return
		}
	}
	if p.system != nil {
		if at := serves.FindStringSubmatch(p.system.output()); at != nil {
			command, says = forge.ReplaceAllString(command, at[1]), forge.ReplaceAllString(says, at[1])
		}
	}
	says = user.ReplaceAllString("\n"+says, "${1}"+p.user)
	switch background := strings.HasSuffix(command, " &"); {
	case defines.MatchString(command) && strings.TrimSpace(says) == "":
		p.defined += command + "\n"
	case background:
		p.system = p.shell("exec " + strings.TrimSuffix(command, " &"))
		p.Cleanup(p.system.stop)
		p.until(command, says, p.system.output)
	case p.system != nil && queries.MatchString(command):
		p.until(command, says, func() string { return p.shell(command).wait() })
	default:
		run := p.shell(command)
		output := run.wait()
		p.status = run.cmd.ProcessState.ExitCode()
		if missing := missing(output, says); missing != "" {
			p.Fatalf("%s\ndoes not print, after what comes before it on the page:\n%s\nit printed:\n%s", command, missing, output)
		}
	}
}

// until is step for what comes with the work of others. It looks again once the system has printed
// more: each look starts a program, which takes the processor from that work.
func (p *play) until(command, says string, look func() string) {
	p.Helper()
	deadline := time.Now().Add(4 * time.Minute)
	for {
		printed := p.system.printed()
		output := look()
		missing := missing(output, says)
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("%s\nnever printed, after what comes before it on the page:\n%s\nit printed last:\n%s", command, missing, output)
		}
		select {
		case <-printed:
		case <-time.After(250 * time.Millisecond): // not all work is printed
		}
	}
}

// A process is a command of a page, its output in memory.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	mu   sync.Mutex
	out  bytes.Buffer  // under mu
	more chan struct{} // under mu: closed by the next output
}

func (p *play) shell(script string) *process {
	p.Helper()
	s := &process{cmd: exec.Command("sh", "-c", fmt.Sprintf("%s(exit %d)\n%s", p.defined, p.status, script)), done: make(chan struct{}), more: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = p.dir, p.env, s, s
	if err := s.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // what it ends with is on the page, if anywhere
	}()
	return s
}

func (s *process) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.more)
	s.more = make(chan struct{})
	return s.out.Write(p)
}

// printed is closed when the process prints again.
func (s *process) printed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.more
}

func (s *process) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func (s *process) wait() string {
	<-s.done
	return s.output()
}

func (s *process) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.done
}

// missing is the first line of a transcript that is not in the output behind the ones
// before it, or "". What stands at … may be anything.
func missing(output, says string) string {
	rest := strings.Split(alike(output), "\n")
lines:
	for _, want := range strings.Split(strings.TrimSpace(alike(says)), "\n") {
		parts := strings.Split(strings.TrimSpace(want), "…")
		for i, got := range rest {
			if inOrder(got, parts) {
				rest = rest[i+1:]
				continue lines
			}
		}
		return want
	}
	return ""
}

func inOrder(line string, parts []string) bool {
	for _, part := range parts {
		_, after, found := strings.Cut(line, strings.TrimSpace(part))
		if !found {
			return false
		}
		line = after
	}
	return true
}

var (
	agents  = regexp.MustCompile(`\bsignalbox-[\w-]+`)
	hashes  = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
	numbers = regexp.MustCompile(`(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ms|s|m)?`) // durations too: 1m54s on a busy machine
	blanks  = regexp.MustCompile(`[ \t]+`)
)

// alike leaves out what differs from run to run.
func alike(text string) string {
	for _, same := range []struct {
		*regexp.Regexp
		as string
	}{{agents, "A"}, {hashes, "H"}, {numbers, "N"}, {blanks, " "}} {
		text = same.ReplaceAllString(text, same.as)
	}
	return text
}
