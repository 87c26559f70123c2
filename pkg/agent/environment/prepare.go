package environment

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
)

// Limits of one phase.
const (
	phaseWithin = 15 * time.Minute
	fetchWithin = 10 * time.Minute
	quietWithin = 3 * time.Minute // that a fetch prints nothing
	maxSaid     = 64 << 10        // bytes of output
)

// ErrNotPrepared means that the fetch failed. The tests may run all the same, with what this
// machine has.
var ErrNotPrepared = errors.New("the environment is not prepared")

//go:embed requirements.py
var requirements string

// Runner runs one command; sandbox.Sandbox implements it.
type Runner interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
	Confines() bool
	Mode() sandbox.Mode
}

// Store keeps layers in a directory. Several processes may share it.
type Store struct {
	Dir        string // absolute; empty: nothing is prepared
	Runner     Runner
	Limits     sandbox.Limits
	Allowed    egress.List                                     // further hosts that a fetch can reach: those of --egress
	Configured func(ctx context.Context, tool string) Registry // nil: Configured
	Say        func(format string, args ...any)                // shows people the present phase; nil: nobody
}

// Prepare returns the layer of a recipe for the tree in dir. It is made once for the same
// manifests, locks, commands and machine, whichever commit and role asks. made is true if it
// was not there. A fetch that fails is an ErrNotPrepared that says why.
func (s Store) Prepare(ctx context.Context, dir string, r Recipe) (l Layer, made bool, err error) {
	own := slices.Contains([]string{"go", "cargo", "maven", "gradle"}, r.Tool) && !s.Runner.Confines()
	if s.Dir == "" || own || r.Tool == "go" && r.Fetch == nil && warm() {
		return Layer{}, false, nil // the user's own caches serve
	}
	if r.Lacks != "" {
		return Layer{}, false, fmt.Errorf("%w: %s", ErrNotPrepared, r.Lacks)
	}
	at := filepath.Join(s.Dir, r.key())
	if _, err := os.Stat(at); err == nil {
		_ = os.Chtimes(at, time.Time{}, time.Now()) // it is used: Sweep leaves it
		return load(at, r), false, nil
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return Layer{}, false, err
	}
	failure := s.failure(at)
	if err := failedBefore(failure); err != nil {
		return Layer{}, false, err
	}
	staging, err := os.MkdirTemp(s.Dir, "new-*")
	if err != nil {
		return Layer{}, false, err
	}
	defer func() { err = errors.Join(err, sandbox.RemoveAll(staging)) }()
	if err := s.make(ctx, staging, dir, r); err != nil {
		if errors.Is(err, ErrNotPrepared) {
			err = errors.Join(err, os.WriteFile(failure, []byte(err.Error()), 0o600))
		}
		return Layer{}, false, err
	}
	if err := os.Rename(filepath.Join(staging, "layer"), at); err != nil {
		if _, there := os.Stat(at); there != nil { // else another process was first
			return Layer{}, false, err
		}
	}
	return load(at, r), true, nil
}

// tryAgain is how long the reason holds why a layer could not be made: the next role would wait
// for the same registry.
const tryAgain = 10 * time.Minute

// failure returns the file that has the reason. It is another one for other hosts of --egress.
func (s Store) failure(at string) string {
	sum := sha256.Sum256([]byte(s.Allowed.String()))
	return at + "." + hex.EncodeToString(sum[:4]) + ".failed"
}

// failedBefore returns the reason in a file, if it is of a short while ago.
func failedBefore(file string) error {
	info, err := os.Stat(file)
	if err != nil || time.Since(info.ModTime()) > tryAgain {
		return nil
	}
	why, err := os.ReadFile(file)
	if err != nil {
		return nil // it is tried again
	}
	return fmt.Errorf("%w%s", ErrNotPrepared, strings.TrimPrefix(string(why), ErrNotPrepared.Error()))
}

// warm reports whether this user has compiled with Go before, so that a confined run finds the
// standard library compiled.
func warm() bool {
	dir := os.Getenv("GOCACHE")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return false
		}
		dir = filepath.Join(cache, "go-build")
	}
	entries, err := os.ReadDir(filepath.Join(dir, "00"))
	return err == nil && len(entries) > 0
}

// make makes a layer below staging.
func (s Store) make(ctx context.Context, staging, dir string, r Recipe) error {
	fetch, layer, cache := filepath.Join(staging, "fetch"), filepath.Join(staging, "layer"), filepath.Join(staging, "cache")
	if err := errors.Join(os.Mkdir(fetch, 0o700), os.Mkdir(layer, 0o700), os.Mkdir(cache, 0o700)); err != nil {
		return err
	}
	if err := write(fetch, r.Files); err != nil {
		return err
	}
	needed := r.Fetch != nil
	if r.Tool == "pip" {
		var err error
		var python string
		if python, needed, err = s.wanted(ctx, fetch, cache); err != nil {
			return err
		}
		r.Fetch = append([]string{python}, r.Fetch[1:]...)
	}
	if needed {
		if err := s.fetch(ctx, fetch, cache, r); err != nil {
			return err
		}
	}
	if err := s.build(ctx, staging, dir, r); err != nil {
		return err
	}
	return collect(layer, filepath.Join(s.Dir, r.key()), fetch, cache, r)
}

// write writes files below a directory.
func write(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// wanted writes the packages that this machine's Python lacks. It reports whether there are
// any, and returns the interpreter itself: a shim of it may write where it may not.
func (s Store) wanted(ctx context.Context, fetch, cache string) (python string, needed bool, err error) {
	run, err := s.run(ctx, sandbox.Command{Argv: []string{"python3", "-c", requirements, "pytest"}, Dir: fetch, Cache: cache}, nil)
	if err != nil {
		return "", false, err
	}
	if !run.OK() {
		return "", false, fmt.Errorf("%w: reading the requirements: %s: %s", ErrNotPrepared, run, last(run.Output))
	}
	var names strings.Builder
	for line := range strings.Lines(string(run.Output)) {
		if name, ok := strings.CutPrefix(line, "want: "); ok {
			names.WriteString(name)
		} else if path, ok := strings.CutPrefix(strings.TrimSpace(line), "python: "); ok {
			python = path
		}
	}
	if names.Len() == 0 || python == "" {
		return python, false, nil
	}
	return python, true, os.WriteFile(filepath.Join(fetch, "wanted.txt"), []byte(names.String()), 0o600)
}

// fetch runs the phase that has the network of the registry.
func (s Store) fetch(ctx context.Context, fetch, cache string, r Recipe) error {
	configured := s.Configured
	if configured == nil {
		configured = Configured
	}
	registry := configured(ctx, r.Tool)
	list, err := egress.Parse(registry.Hosts)
	if err != nil {
		return fmt.Errorf("%w: the registry of %s: %w", ErrNotPrepared, r.Tool, err)
	}
	if err := write(fetch, registry.Files); err != nil {
		return err
	}
	allowed := list.Trusted().And(s.Allowed)
	env, err := r.gitEnv(allowed)
	if err != nil {
		return err
	}
	env = append(append(env, "npm_config_ignore_scripts=true"), registry.Env...) // npm starts another npm for a package of git
	c := sandbox.Command{Argv: r.Fetch, Dir: fetch, Cache: cache, Egress: allowed, Readable: registry.Readable}
	if r.Tool == "cargo" {
		c.CargoHome = filepath.Join(fetch, tools[r.Tool].name)
	}
	for _, program := range append([]string{r.Fetch[0], programs[r.Tool]}, r.Needs...) {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: %s is not installed here, and %s wants it", ErrNotPrepared, program, r.Source)
		}
	}
	s.say("fetching what %s names: %s", r.Source, strings.Join(r.Fetch, " "))
	run, err := s.run(ctx, c, env)
	switch {
	case err != nil:
		return err
	case !run.OK():
		why := fmt.Sprintf("%s: %s", strings.Join(r.Fetch, " "), run)
		if len(run.Refused) > 0 {
			host, _, _ := strings.Cut(run.Refused[0], ": ")
			why += fmt.Sprintf("; %s asked for %s: allow it with --egress %s", r.Tool, host, strings.TrimSuffix(host, ":443"))
		}
		return fmt.Errorf("%w: %s\n%s%s", ErrNotPrepared, why, last(run.Output), r.Help)
	}
	return os.WriteFile(filepath.Join(fetch, "..", "layer", hosts), []byte(strings.Join(registry.Hosts, "\n")), 0o600)
}

// build runs the phase that sees the whole tree and has no network. A build that fails costs
// only what it would have made: the tests say what they miss.
func (s Store) build(ctx context.Context, staging, dir string, r Recipe) error {
	if r.Build == nil {
		return nil
	}
	c := sandbox.Command{Argv: r.Build, Dir: dir, Cache: filepath.Join(staging, "cache")}
	if r.Tool == "bundler" {
		c.Dir = filepath.Join(staging, "fetch") // a gem sees no tree
	} else if r.Tool != "go" {
		c.Dir = filepath.Join(staging, "build")
		if err := Copy(ctx, dir, c.Dir); err != nil {
			return err
		}
		if err := sandbox.RemoveAll(filepath.Join(c.Dir, ".git")); err != nil {
			return err
		}
		for _, name := range r.Modules {
			from, to := filepath.Join(staging, "fetch", name), filepath.Join(c.Dir, name)
			if _, err := os.Stat(from); err == nil {
				if err := errors.Join(sandbox.RemoveAll(to), os.Rename(from, to)); err != nil {
					return err
				}
				defer func() { _ = os.Rename(to, from) }() // collect finds it there
			}
		}
	}
	s.say("building it: %s", strings.Join(r.Build, " "))
	run, err := s.run(ctx, c, nil)
	if err == nil && !run.OK() && r.Tool != "go" {
		s.say("the build of the dependencies fails, and the tests run without it: %s", last(run.Output))
	}
	return err
}

// run runs a command of a phase.
func (s Store) run(ctx context.Context, c sandbox.Command, env []string) (sandbox.Result, error) {
	c.Env, c.Wall, c.MaxOutput, c.Limits = slices.Concat(sandbox.Environ(), []string{"CI=1", "PIP_RETRIES=1", "CARGO_NET_RETRY=1", "npm_config_fetch_retries=1", "npm_config_fetch_retry_mintimeout=1000", "npm_config_fetch_retry_maxtimeout=2000"}, env), phaseWithin, maxSaid, s.Limits
	if !c.Egress.Empty() {
		c.Idle, c.Wall = quietWithin, fetchWithin
	}
	run, err := s.Runner.Run(ctx, c)
	if err == nil {
		err = context.Cause(ctx)
	}
	return run, err
}

func (s Store) say(format string, args ...any) {
	if s.Say != nil {
		s.Say(format, args...)
	}
}

// programs has the program that a layer is made for, by the tool.
var programs = map[string]string{"pip": "python3", "go": "go", "npm": "node", "pnpm": "node", "yarn": "node", "cargo": "cargo", "bundler": "ruby", "maven": "mvn", "gradle": "java"}

// key identifies the layer of a recipe on this machine.
func (r Recipe) key() string {
	h := sha256.New()
	fmt.Fprintf(h, "1\x00%s\x00%s\x00%s\x00%q\x00%q\x00", r.Tool, runtime.GOOS, runtime.GOARCH, r.Fetch, r.Build)
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		fmt.Fprintf(h, "%s\x00%d\x00%s\x00", name, len(r.Files[name]), r.Files[name])
	}
	path, err := exec.LookPath(programs[r.Tool])
	if info, serr := os.Stat(path); err == nil && serr == nil { // another version is another layer
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00", path, info.Size(), info.ModTime().UnixNano())
	}
	return r.Tool + "-" + hex.EncodeToString(h.Sum(nil)[:12])
}

// last returns the end of an output, for people.
func last(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.Join(lines[max(len(lines)-8, 0):], "\n")
}

// Copy copies a directory, sharing its blocks where the file system can.
func Copy(ctx context.Context, from, to string) error {
	if exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", from, to).Run() == nil {
		return nil
	}
	if err := sandbox.RemoveAll(to); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "cp", "-Rp", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, last(out))
	}
	return nil
}

// keepLayers is how long a layer stays that is not used.
const keepLayers = 7 * 24 * time.Hour

// Sweep removes the layers that nobody used for a week, and what killed processes left.
func (s Store) Sweep() error {
	dirs, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	for _, dir := range dirs {
		if info, serr := os.Stat(dir); serr == nil && time.Since(info.ModTime()) > keepLayers {
			err = errors.Join(err, sandbox.RemoveAll(dir))
		}
	}
	return err
}
