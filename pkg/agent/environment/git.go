package environment

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// gitSource is a package that a manifest or lock takes from a git repository.
type gitSource struct{ name, address, file string }

// gitForms has how files name packages of git repositories, by the file's name. The groups are
// name and address.
var gitForms = []struct {
	file string // as for path.Match
	form *lazyregexp.Regexp
}{
	{"package-lock.json", lockedByNpm},
	{"npm-shrinkwrap.json", lockedByNpm},
	{"yarn.lock", lazyregexp.New(`(?m)^"?(?P<name>@?[^@"\n]+)@[^\n]*:\n(?:  [^\n]*\n)*?  resolved "(?P<address>(?:git\+|git:|ssh:)[^"]+)"`)},
	{"pnpm-lock.yaml", lazyregexp.New(`(?m)^  '?(?P<name>@?[^@'\n]+)@[^\n]*:\n    resolution: \{[^}\n]*repo: (?P<address>[^,}\s]+)`)},
	{"Cargo.toml", lazyregexp.New(`(?m)^\s*\[[^\]\n]*dependencies\.(?P<name>[\w-]+)\]\n(?:\s*[^\[\n]*\n)*?\s*git = "(?P<address>[^"]+)"`)},
	{"Cargo.lock", lazyregexp.New(`(?m)^name = "(?P<name>[^"]+)"\nversion = "[^"]*"\nsource = "(?P<address>git\+[^"]+)"`)},
	{"*requirements*.txt", lazyregexp.New(`(?m)^\s*(?:-e\s+)?(?:(?P<name>[\w.-]+)[^@#\n]*@\s*)?(?P<address>git\+[^\s;]+)`)},
	{"pyproject.toml", lazyregexp.New(`["'](?P<name>[\w.-]+)[^@"'\n]*@\s*(?P<address>git\+[^"'\s;]+)`)},
	{"pyproject.toml", lazyregexp.New(`(?m)^\s*"?(?P<name>[\w.-]+)"?\s*=\s*\{[^}]*\bgit\s*=\s*["'](?P<address>[^"']+)`)},
	{"setup.cfg", lazyregexp.New(`(?m)^\s*(?P<name>[\w.-]+)[^@\n]*@\s*(?P<address>git\+[^\s;]+)`)},
	{"uv.lock", lazyregexp.New(`(?m)^name = "(?P<name>[^"]+)"\nversion = "[^"]*"\nsource = \{ git = "(?P<address>[^"]+)"`)},
	{"poetry.lock", lazyregexp.New(`(?m)^name = "(?P<name>[^"]+)"\n(?:[^\[\n][^\n]*\n|\n|\[package\.(?:dependencies|extras)\]\n)*\[package\.source\]\ntype = "git"\nurl = "(?P<address>[^"]+)"`)},
	{"Gemfile.lock", lazyregexp.New(`(?m)^GIT\n  remote: (?P<address>\S+)\n(?:  [a-z]+:[^\n]*\n)*    (?P<name>[\w.-]+) \(`)},
}

// lockedByNpm matches an entry of a lock of npm, of the present format and the one before.
var lockedByNpm = lazyregexp.New(`"(?:[^"]*node_modules/)?(?P<name>[^"]+)":\s*\{\s*(?:"(?:name|version)":\s*"[^"]*",\s*)*"(?:resolved|version)":\s*"(?P<address>git(?:\+|:)[^"]+)"`)

// nodeGit matches the address of a git repository in a package.json, whole: an address, or a
// repository of a host that npm knows by a short name.
var nodeGit = lazyregexp.New(`^(?:git\+[a-z]+://|git://|ssh://|git@|https?://[^#]+\.git(?:#|$)|(?:github|gitlab|bitbucket):|[\w.-]+/[\w.-]+(?:#|$))`)

// gitSources lists the packages of git repositories that the files of a recipe name, each once,
// by the path of the file and in its order.
func (r Recipe) gitSources() []gitSource {
	var all []gitSource
	add := func(name, address, file string) {
		if name == "" {
			_, name, _ = strings.Cut(address, "#egg=")
		}
		if name == "" {
			name = strings.TrimSuffix(path.Base(withoutRevision(address)), ".git")
		}
		if !slices.ContainsFunc(all, func(s gitSource) bool { return s.name == name }) {
			all = append(all, gitSource{name, withoutRevision(address), file})
		}
	}
	for _, file := range slices.Sorted(maps.Keys(r.Files)) {
		content, base := r.Files[file], path.Base(file)
		if strings.HasPrefix(file, "requirements/") {
			base = "requirements.txt"
		}
		if base == "package.json" {
			var pkg packageJSON
			_ = json.Unmarshal([]byte(content), &pkg) // it was read before
			for _, table := range []map[string]any{pkg.Dependencies, pkg.DevDependencies, pkg.OptionalDependencies} {
				for _, name := range slices.Sorted(maps.Keys(table)) {
					if address, ok := table[name].(string); ok && nodeGit.MatchString(address) {
						add(name, address, file)
					}
				}
			}
		}
		for _, f := range gitForms {
			if ok, _ := path.Match(f.file, base); !ok {
				continue
			}
			for _, m := range f.form.FindAllStringSubmatch(content, -1) {
				name, address := m[1], m[2]
				if base == "Gemfile.lock" { // the address stands first
					name, address = address, name
				}
				add(name, address, r.called(file))
			}
		}
	}
	return all
}

// called returns the name of a file in the tree: a lock of bundler may have an older one.
func (r Recipe) called(file string) string {
	if file == "Gemfile.lock" {
		return r.Source
	}
	return file
}

// withoutRevision returns an address of a git repository as git knows it: without the prefix git+,
// credentials, and the revision after it. The short names of npm become addresses.
func withoutRevision(address string) string {
	address, _, _ = strings.Cut(strings.TrimPrefix(address, "git+"), "#")
	address, _, _ = strings.Cut(address, "?")
	if !strings.Contains(address, ":") && strings.Count(address, "/") == 1 {
		address = "github:" + address
	}
	if kind, rest, ok := strings.Cut(address, ":"); ok && (kind == "github" || kind == "gitlab" || kind == "bitbucket") {
		return strings.Join(defaults()[kind], "") + "/" + rest
	}
	if rest, ok := strings.CutPrefix(address, "git@"); ok && !strings.Contains(address, "://") {
		address = "ssh://git@" + strings.Replace(rest, ":", "/", 1)
	}
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.User = nil
	if before, _, ok := strings.Cut(u.Path, "@"); ok {
		u.Path, u.RawPath = before, ""
	}
	return u.String()
}

// at returns the HOST:PORT that the fetch asks. An address of ssh is asked by https: the fetch
// has no key.
func (s gitSource) at() string {
	u, err := url.Parse(s.address)
	if err != nil || u.Host == "" {
		return s.address
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return u.Hostname() + ":443"
	}
	return hostPort(u)
}

// gitByCode names the tools whose packages of git repositories are made by code of the
// package, and so are not fetched, with the line that installs one.
var gitByCode = map[string]string{
	"pip":     `setup: {command: "python3 -m pip install --target .packages git+%s"} and env: {PYTHONPATH: .packages}`,
	"bundler": `setup: {command: "bundle install"}`,
}

// Unfetched returns a sentence for each package that the fetch leaves out because it is of
// a git repository: the package, the file that names it, and the line that helps.
func (r Recipe) Unfetched() []string {
	line := gitByCode[r.Tool]
	if line == "" || r.Lacks != "" {
		return nil
	}
	var all []string
	for _, s := range r.gitSources() {
		help := line
		if strings.Contains(line, "%s") {
			help = fmt.Sprintf(line, s.address)
		}
		all = append(all, fmt.Sprintf("%s takes %s from the git repository %s, which is not fetched, since %s runs code of the package for it: add to .signalbox.yaml: %s, with --egress %s",
			s.file, s.name, s.address, r.Tool, help, strings.TrimSuffix(s.at(), ":443")))
	}
	return all
}

// gitEnv returns the variables of a fetch that reaches git repositories, or an ErrNotPrepared that
// names each package whose host is not allowed.
func (r Recipe) gitEnv(allowed egress.List) ([]string, error) {
	if gitByCode[r.Tool] != "" {
		return nil, nil
	}
	env := []string{"GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "CARGO_NET_GIT_FETCH_WITH_CLI=true"}
	var refused, hosts []string
	for _, s := range r.gitSources() {
		at := s.at()
		if !allowed.Permits(at) {
			refused = append(refused, fmt.Sprintf("%s takes %s from the git repository %s, whose host is not allowed: allow it with --egress %s, which a setup in .signalbox.yaml, setup: {command: %q}, needs as well",
				s.file, s.name, s.address, strings.TrimSuffix(at, ":443"), strings.Join(r.Fetch[:2], " ")))
		} else if host, plain := strings.CutSuffix(at, ":443"); plain && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if refused != nil {
		return nil, fmt.Errorf("%w: %s", ErrNotPrepared, strings.Join(refused, "\n"))
	}
	n := 0
	for _, host := range hosts {
		for _, by := range []string{"ssh://git@" + host + "/", "git@" + host + ":", "git://" + host + "/"} {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=url.https://%s/.insteadOf", n, host), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, by))
			n++
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n)), nil
}
