// Package repoconfig is the configuration that a repository has of its own work: the file
// .signalbox/config.yaml of its default branch. It reads the file; where the file comes
// from is the gateway's.
//
// Nothing in it widens what the operator has set: each value is laid over the operator's,
// and the narrower of the two is in force.
package repoconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Dir is the directory that has the file, and Shared the repository of an organisation
// that has it for those without one.
const (
	Dir    = ".signalbox"
	Shared = ".github"
)

// MaxBytes is the size of the largest file that is read.
const MaxBytes = 64 << 10

// Files returns the names that the file may have, the one that is looked for first first.
func Files() []string { return []string{"config.yaml", "config.yml"} }

// Config is what a file says. The zero Config says nothing.
type Config struct {
	Hash      string            // SHA-256 of the file, in hexadecimal digits; empty: there is no file
	Lifecycle string            // that new issues open with; empty: the operator's
	Label     string            // only issues with it are taken up; empty: it asks for none
	Policy    map[string]string // values by name, as text; budgets are among them
	Commands  Commands
	Protect   []string // paths that agents may not change, as git's globs
	Brains    []string // that may work, as patterns; nil: all that the operator has
	Limits    []instance.Limit
	Days      []instance.DayBudget
	Labels    map[string]string // that triage may set, by what it found; nil: none
	Notify    map[string]string // events by target of notifications, with commas between them; nil: the operator's

	places map[string]Place // by key, as in policy.max_iterations
}

// Commands is the permission that a command in a comment takes, by the name of the command.
type Commands map[string]string

// Others is the key of Commands for those that it does not name.
const Others = "others"

// Permission returns the permission that a command takes where the operator asks for
// least: the higher of the two.
func (c Commands) Permission(command, least string) string {
	own, ok := c[command]
	if !ok {
		own = c[Others]
	}
	if slices.Index(Levels(), own) > slices.Index(Levels(), least) {
		return own
	}
	return least
}

// Levels returns the permissions of a forge, the lesser first.
func Levels() []string { return []string{"none", "read", "triage", "write", "maintain", "admin"} }

// Place returns where the file says a key, such as policy.max_iterations.
func (c Config) Place(key string) Place { return c.places[key] }

// PermitsBrain reports whether a brain may work, by its specification as in
// exec:claude. Rules, which are no model, always may.
func PermitsBrain(patterns []string, spec string) bool {
	return patterns == nil || spec == "rules" || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, spec)
		return ok && err == nil
	})
}

// Of returns what an instance keeps of the configuration that was in force when it was
// opened, nil if there is no file. file and commit say where it was read.
func (c Config) Of(file, commit string) *instance.Configuration {
	if c.Hash == "" {
		return nil
	}
	return &instance.Configuration{File: file, Commit: commit, Hash: c.Hash, Policy: c.Policy, Protect: c.Protect, Brains: c.Brains, Limits: c.Limits, Days: c.Days, Labels: c.Labels, Notify: c.Notify}
}

// Events returns the events that people can be notified of.
func Events() []string { return []string{"waits", "failed", "completed", "budget", "unproven"} }

// Hash returns the hash of a file.
func Hash(src []byte) string {
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:])
}
