package environment

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// registries has the registries that the tools use by default. It is the only place where
// the product names hosts of others.
//
//go:embed registries.json
var registries []byte

// Registry is where a tool fetches packages from, by the configuration of this machine's
// user. It has no credentials.
type Registry struct {
	Hosts    []string          // HOST:PORT
	Env      []string          // name=value, for the tool
	Readable []string          // directories of packages on this machine
	Files    map[string]string // configuration of the tool: content by path, relative to the directory of the fetch
}

// defaults returns the addresses of registries by the family of their tools, and of the hosts
// of git repositories by the short name that npm has for them.
func defaults() map[string][]string {
	var all map[string][]string
	_ = json.Unmarshal(registries, &all) // a test reads it
	return all
}

// askWithin limits a question to a tool about its configuration.
const askWithin = 20 * time.Second

// Configured asks a tool for its registry. It asks outside of any repository: which hosts a
// fetch reaches is never for a repository to say. A tool that does not answer has its
// default registry.
func Configured(ctx context.Context, tool string) Registry {
	family := tool
	if tool == "pnpm" || tool == "yarn" {
		family = "npm"
	}
	var r Registry
	for _, address := range defaults()[family] {
		r.add(address)
	}
	switch family {
	case "npm":
		r.replace("npm_config_registry", ask(ctx, "npm", "config", "get", "registry"))
	case "pip":
		r.replace("PIP_INDEX_URL", cmp.Or(os.Getenv("PIP_INDEX_URL"), ask(ctx, "python3", "-m", "pip", "config", "get", "global.index-url")))
		for _, from := range []string{os.Getenv("PIP_FIND_LINKS"), ask(ctx, "python3", "-m", "pip", "config", "get", "global.find-links")} {
			for _, dir := range strings.Fields(from) {
				if strings.HasPrefix(dir, "/") {
					r.Readable = append(r.Readable, dir)
					r.Env = append(r.Env, "PIP_FIND_LINKS="+dir)
				}
			}
		}
	case "go":
		for address := range strings.FieldsFuncSeq(ask(ctx, "go", "env", "GOPROXY"), func(c rune) bool { return c == ',' || c == '|' }) {
			if dir, ok := strings.CutPrefix(address, "file://"); ok {
				r.Readable = append(r.Readable, dir)
			}
			r.add(address)
		}
	case "cargo":
		r.cargo()
	case "maven":
		r.maven()
	case "bundler":
		public := strings.Join(defaults()[family], "")
		r.Env = append(r.Env, "GEM_PUBLIC="+public)
		source := public
		for line := range strings.Lines(ask(ctx, "gem", "sources", "--list")) {
			if line = strings.TrimSpace(line); strings.Contains(line, "://") {
				source = line
			}
		}
		if _, mirror, ok := strings.Cut(ask(ctx, "bundle", "config", "get", "--parseable", "mirror."+public+"/"), "="); ok {
			source = mirror
		}
		r.replace("GEM_SOURCE", source)
	}
	return r
}

// cargo takes the sources of packages from the configuration of this machine's user.
func (r *Registry) cargo() {
	dir := os.Getenv("CARGO_HOME")
	if home, err := os.UserHomeDir(); err == nil && dir == "" {
		dir = filepath.Join(home, ".cargo")
	}
	var config struct {
		Source map[string]struct {
			ReplaceWith string `toml:"replace-with,omitempty"`
			Registry    string `toml:"registry,omitempty"`
			Directory   string `toml:"directory,omitempty"`
			Local       string `toml:"local-registry,omitempty"`
		} `toml:"source,omitempty"`
		Registries map[string]struct {
			Index string `toml:"index,omitempty"`
		} `toml:"registries,omitempty"`
	}
	if _, err := toml.DecodeFile(filepath.Join(dir, "config.toml"), &config); err != nil {
		return // it has none, or cargo itself refuses it
	}
	index := func(address string) string {
		kind, rest := "", address
		if strings.HasPrefix(address, "sparse+") {
			kind, rest = "sparse+", strings.TrimPrefix(address, "sparse+")
		}
		u, err := url.Parse(rest)
		if err != nil || u.Host == "" {
			return address
		}
		u.User = nil
		r.add(u.String())
		return kind + u.String()
	}
	for name, s := range config.Source {
		s.Registry = index(s.Registry)
		for _, dir := range []string{s.Directory, s.Local} {
			if filepath.IsAbs(dir) {
				r.Readable = append(r.Readable, dir)
			}
		}
		config.Source[name] = s
	}
	for name, s := range config.Registries {
		s.Index = index(s.Index)
		config.Registries[name] = s
	}
	if content, err := toml.Marshal(config); err == nil {
		r.Files = map[string]string{"cargo/config.toml": string(content)}
	}
}

// maven takes the mirrors from the settings of this machine's user.
func (r *Registry) maven() {
	type mirror struct {
		ID  string `xml:"id"`
		Of  string `xml:"mirrorOf"`
		URL string `xml:"url"`
	}
	var settings struct {
		Mirrors []mirror `xml:"mirrors>mirror"`
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return
	}
	content, err := os.ReadFile(filepath.Join(home, ".m2", "settings.xml"))
	if err != nil || xml.Unmarshal(content, &settings) != nil || len(settings.Mirrors) == 0 {
		return
	}
	for i, m := range settings.Mirrors {
		u, err := url.Parse(strings.TrimSpace(m.URL))
		if err != nil {
			continue
		}
		u.User = nil
		settings.Mirrors[i].URL = u.String()
		r.add(u.String())
	}
	text, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"mirrors"`
		Mirrors []mirror `xml:"mirror"`
	}{Mirrors: settings.Mirrors})
	if err == nil {
		r.Env = append(r.Env, "MAVEN_MIRRORS="+string(text))
	}
}

// replace makes an address the registry, in place of the defaults.
func (r *Registry) replace(variable, address string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return
	}
	u.User = nil
	r.Env = append(r.Env, variable+"="+u.String())
	at := hostPort(u)
	if slices.Contains(r.Hosts, at) {
		return // it is the default
	}
	r.Hosts = []string{at}
}

// add adds the host of an address, if it has one.
func (r *Registry) add(address string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return
	}
	if at := hostPort(u); !slices.Contains(r.Hosts, at) {
		r.Hosts = append(r.Hosts, at)
	}
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		if port = "443"; u.Scheme == "http" {
			port = "80"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// ask returns a line that a tool prints about its configuration, outside of any repository;
// empty if it does not.
func ask(ctx context.Context, argv ...string) string {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = "/", sandbox.Environ("npm_config_*", "NPM_CONFIG_*", "PIP_*", "BUNDLE_MIRROR*//*/")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
