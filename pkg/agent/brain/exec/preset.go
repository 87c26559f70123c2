package exec

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/yamltext"
)

//go:embed shipped/*.yaml
var shipped embed.FS

// Presets are the coding agents that are known, by name: how each runs unattended with the
// prompt on its standard input, and which reader its output has. The zero Presets are the
// shipped ones.
type Presets struct{ all map[string]preset }

// preset describes a coding agent. A file has these keys, each once; docs/brains.md says
// what they mean.
type preset struct {
	Name       string            `yaml:"preset"`
	Extends    string            `yaml:"extends"`
	About      string            `yaml:"about"`
	Known      string            `yaml:"known"`   // the version that was tried
	Command    []string          `yaml:"command"` // may hold {{…}}, see expand
	Confined   []string          `yaml:"confined"`
	Unconfined []string          `yaml:"unconfined"`
	Help       []string          `yaml:"help"` // prints its flags
	Models     []string          `yaml:"models"`
	Env        []string          `yaml:"env"`   // variables it needs
	Set        map[string]string `yaml:"set"`   // variables it is given
	Login      []string          `yaml:"login"` // files below HOME with its login and settings; it gets a copy
	Hosts      []string          `yaml:"hosts"` // its model's API
	Bases      []string          `yaml:"bases"` // variables that name another API
	Drop       string            `yaml:"drop"`  // pattern of its own files in the work tree
	Answer     string            `yaml:"answer"`
	Exits      map[int]string    `yaml:"exits"` // exit codes by which it did nothing, and what people have to do

	MCP *form `yaml:"mcp"` // how it gets MCP servers; nil: it cannot

	ExitsWithStatus bool `yaml:"exits_with_status"` // its exit code is the low byte of a status of HTTP

	from   string // file; empty: shipped
	source []byte
	read   reader // of a line of its standard output; nil: not a coding agent
	aside  reader // of a line of its standard error; may be nil
}

// reader takes a line that a coding agent has printed.
type reader func(*answer, []byte)

// readers are the readers of what coding agents print, by the name in their presets.
func readers() map[string]reader {
	return map[string]reader{
		"claude-json": readClaude, "codex-json": readCodex, "gemini-json": readGemini, "opencode-json": readOpencode,
		"goose-json": readGoose, "aider-text": readAider, "text": readText,
	}
}

// asides are the readers of what they print on standard error, of those that tell of their
// model's service nowhere else.
func asides() map[string]reader {
	return map[string]reader{"gemini-json": readGeminiAside, "opencode-json": readOpencodeAside}
}

// ReadPresets returns the shipped presets and those in the files *.yaml of a directory, which
// win; of none, if dir is empty. An error names the file and the line.
func ReadPresets(dir string) (Presets, error) {
	ours, err := ownPresets()
	ps := Presets{maps.Clone(ours)}
	if err == nil && dir != "" {
		if info, statErr := os.Stat(dir); statErr != nil || !info.IsDir() {
			return ps, fmt.Errorf("presets: %s: want a directory", dir)
		}
		err = ps.add(os.DirFS(dir), dir)
	}
	if err != nil {
		return ps, fmt.Errorf("presets: %w", err)
	}
	return ps, nil
}

// ownPresets returns the shipped presets. Each role of a process reads them.
var ownPresets = sync.OnceValues(func() (map[string]preset, error) {
	ps := Presets{map[string]preset{}}
	ours, err := fs.Sub(shipped, "shipped")
	if err == nil {
		err = ps.add(ours, "")
	}
	return ps.all, err
})

// extended returns a copy of the preset, in which the parser changes nothing of the preset itself.
func (p preset) extended() preset {
	p.Set, p.Exits = maps.Clone(p.Set), maps.Clone(p.Exits)
	if p.MCP != nil {
		own := *p.MCP
		own.Entry, own.Set = maps.Clone(own.Entry), maps.Clone(own.Set)
		p.MCP = &own
	}
	return p
}

// add adds the presets of a directory, by the names of their files.
func (ps Presets) add(dir fs.FS, at string) error {
	names, err := fs.Glob(dir, "*.yaml")
	if err != nil {
		return err
	}
	var wrong []error
	read := map[string]preset{} // a file extends what was there before its directory
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err == nil {
			var one preset
			if one, err = ps.parse(text, filepath.Join(at, name)); err == nil && one.Name != strings.TrimSuffix(name, ".yaml") {
				err = fmt.Errorf("%s:%d: preset %s: want it in a file %s.yaml", filepath.Join(at, name), line(text, "preset"), one.Name, one.Name)
			}
			if at == "" {
				one.from = ""
			}
			read[one.Name] = one
		}
		wrong = append(wrong, err)
	}
	maps.Copy(ps.all, read)
	return errors.Join(wrong...)
}

// plainName is a preset's name, which is one word of a brain.
var plainName = lazyregexp.New(`^[a-z][a-z0-9_-]*$`)

// placeholder is what expand replaces.
var placeholder = lazyregexp.New(`\{\{[^}]*\}\}`)

// parse reads one file.
func (ps Presets) parse(text []byte, file string) (preset, error) {
	at := func(key, format string, args ...any) error {
		return fmt.Errorf("%s:%d: %s", file, line(text, key), fmt.Sprintf(format, args...))
	}
	var head struct {
		Extends string `yaml:"extends"`
	}
	_ = yamltext.Unmarshal(text, &head) // what is wrong is said below
	one, ok := ps.all[head.Extends]
	if head.Extends != "" && !ok {
		return one, at("extends", "extends: there is no preset %s: want one of %s", head.Extends, strings.Join(slices.Sorted(maps.Keys(ps.all)), ", "))
	}
	one = one.extended()
	one.Name = ""
	if err := yamltext.Unmarshal(text, &one, yaml.Strict()); err != nil {
		return one, placed(file, err)
	}
	one.from, one.source = file, text
	one.aside = asides()[one.Answer]
	if one.read, ok = readers()[one.Answer]; !ok {
		return one, at("answer", "answer: %q: want one of %s", one.Answer, strings.Join(slices.Sorted(maps.Keys(readers())), ", "))
	}
	switch {
	case !plainName.MatchString(one.Name):
		return one, at("preset", "preset: %q: want a name of small letters, digits and dashes", one.Name)
	case len(one.Command) == 0 || one.Command[0] == "" || strings.Contains(one.Command[0], "{{"):
		return one, at("command", "command: want a program and its arguments")
	}
	for _, word := range slices.Concat(one.Command, one.Confined, one.Unconfined) {
		for _, found := range placeholder.FindAllString(word, -1) {
			if !slices.Contains(placeholders(), found) {
				return one, at("command", "%s: want one of %s", found, strings.Join(placeholders(), ", "))
			}
		}
	}
	if one.MCP != nil {
		if wrong := one.MCP.wrong(); wrong != "" {
			return one, at("mcp", "mcp: %s", wrong)
		}
	}
	for _, name := range one.Models {
		if _, ok := services()[name]; !ok {
			return one, at("models", "models: %s: want some of %s", name, strings.Join(slices.Sorted(maps.Keys(services())), ", "))
		}
	}
	for _, name := range one.Login {
		if !filepath.IsLocal(name) {
			return one, at("login", "login: %s: want files below the home", name)
		}
	}
	if _, err := path.Match(one.Drop, ""); err != nil || strings.Contains(one.Drop, "/") {
		return one, at("drop", "drop: %s: want a pattern of names", one.Drop)
	}
	return one, nil
}

// line returns the line of a key, 1 if it is not there.
func line(text []byte, key string) int {
	n := 0
	for row := range strings.Lines(string(text)) {
		n++
		if strings.HasPrefix(row, key+":") {
			return n
		}
	}
	return 1
}

// position is how the parser says where something is.
var position = lazyregexp.New(`^\[(\d+):\d+\] `)

// placed returns an error of the parser with file and line, in one line.
func placed(file string, err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if m := position.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s:%s: %s", file, m[1], strings.TrimPrefix(text, m[0]))
	}
	return fmt.Errorf("%s: %s", file, text)
}

// known returns the presets, also of the zero Presets.
func (ps Presets) known() map[string]preset {
	if ps.all == nil {
		ps, _ = ReadPresets("") // a test reads them
	}
	return ps.all
}

// Names returns the names of the presets, sorted.
func (ps Presets) Names() []string { return slices.Sorted(maps.Keys(ps.known())) }

// Preset is what people are shown of one.
type Preset struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Program string `json:"program"`
	Known   string `json:"known"` // the version that was tried; empty: none
	From    string `json:"from"`  // its file; empty: shipped
	Source  string `json:"source,omitempty"`
}

// Find returns a preset, and whether there is one.
func (ps Presets) Find(name string) (Preset, bool) {
	one, ok := ps.known()[name]
	if !ok {
		return Preset{}, false
	}
	return Preset{one.Name, one.About, one.Command[0], one.Known, one.from, string(one.source)}, true
}
