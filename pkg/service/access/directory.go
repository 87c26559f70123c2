package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/signalbox/signalbox/pkg/base/filelock"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// Files of a Directory other than the seeds, which are PARTY.nk.
const (
	ConfigFile  = "accounts.conf"
	BeforeFile  = "accounts.conf.before-upgrade" // ConfigFile as Upgrade found it
	partiesFile = "parties.json"
)

// Errors of a Directory.
var (
	ErrUnknown = errors.New("no such party")
	ErrKnown   = errors.New("there is one already")
	ErrNone    = errors.New("no credentials here")
	ErrOld     = errors.New("an older version wrote the accounts here")
)

// Directory keeps the parties of a system: their public keys in parties.json, the
// newest seed of each in PARTY.nk, and what nats-server reads in accounts.conf. Files
// have mode 0600, the directory 0700. Processes that change it wait for each other.
type Directory string

// Init makes the directory, unless there is one, and adds the parties that it does not
// have. It returns those.
func (d Directory) Init(parties ...Party) (added []Party, err error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(string(d), 0o700); err != nil {
		return nil, err
	}
	err = d.change(func(all []Credential) ([]Credential, error) {
		for _, p := range parties {
			if slices.ContainsFunc(all, func(c Credential) bool { return c.Party == p }) {
				continue
			}
			c, err := d.newKey(p)
			if err != nil {
				return nil, err
			}
			all, added = append(all, c), append(added, p)
		}
		return all, nil
	})
	return added, err
}

// Add adds a party, or returns ErrKnown.
func (d Directory) Add(p Party) error {
	return d.change(func(all []Credential) ([]Credential, error) {
		if slices.ContainsFunc(all, func(c Credential) bool { return c.Party == p }) {
			return nil, fmt.Errorf("%s: %w", p, ErrKnown)
		}
		c, err := d.newKey(p)
		return append(all, c), err
	})
}

// Revoke removes all keys of a party, or returns ErrUnknown. Once nats-server has read
// the configuration, it ends their connections.
func (d Directory) Revoke(p Party) error {
	return d.change(func(all []Credential) ([]Credential, error) {
		kept := slices.DeleteFunc(slices.Clone(all), func(c Credential) bool { return c.Party == p })
		if len(kept) == len(all) {
			return nil, fmt.Errorf("%s: %w", p, ErrUnknown)
		}
		if err := os.Remove(d.Seed(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return kept, nil
	})
}

// Rotate gives a party a new key, whose seed replaces the one in its file. The key
// before it stays valid, so that a running service goes on; Drop ends it.
func (d Directory) Rotate(p Party) error {
	return d.change(func(all []Credential) ([]Credential, error) {
		if !slices.ContainsFunc(all, func(c Credential) bool { return c.Party == p }) {
			return nil, fmt.Errorf("%s: %w", p, ErrUnknown)
		}
		c, err := d.newKey(p)
		return append(all, c), err
	})
}

// Drop removes all keys of a party but the newest, and returns how many.
func (d Directory) Drop(p Party) (dropped int, err error) {
	err = d.change(func(all []Credential) ([]Credential, error) {
		newest := -1
		for i, c := range all {
			if c.Party == p {
				newest = i
			}
		}
		if newest < 0 {
			return nil, fmt.Errorf("%s: %w", p, ErrUnknown)
		}
		keep := all[newest]
		kept := slices.DeleteFunc(slices.Clone(all), func(c Credential) bool { return c.Party == p && c.Key != keep.Key })
		dropped = len(all) - len(kept)
		return kept, nil
	})
	return dropped, err
}

// Upgrade rewrites a configuration of an older version, and reports whether it did. Keys stay. BeforeFile then has the configuration as it was. Running orchestrators of
// the older version get no requests once nats-server has read the new one.
func (d Directory) Upgrade() (upgraded bool, err error) {
	err = d.locked(func(all []Credential) error {
		if len(all) == 0 {
			return fmt.Errorf("%s: %w", d, ErrNone)
		}
		before, old, err := d.old()
		if err != nil || !old {
			return err
		}
		if err := d.write(BeforeFile, before); err != nil {
			return err
		}
		upgraded = true
		return d.writeAll(all)
	})
	return upgraded, err
}

// old returns the configuration, and whether an older version wrote it. None is not old.
func (d Directory) old() (config string, old bool, err error) {
	data, err := os.ReadFile(filepath.Join(string(d), ConfigFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	own, mapErr := subject.From(System, subject.APIs)
	return string(data), !strings.Contains(string(data), own), errors.Join(err, mapErr)
}

// Credentials returns the public keys of all parties, the oldest first, or ErrNone.
func (d Directory) Credentials() (all []Credential, err error) {
	data, err := os.ReadFile(filepath.Join(string(d), partiesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", d, ErrNone)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(string(d), partiesFile), err)
	}
	return all, nil
}

// Seed returns the path of the newest seed of a party.
func (d Directory) Seed(p Party) string { return filepath.Join(string(d), p.String()+".nk") }

// change replaces the credentials with what f returns, and writes the configuration. It is
// ErrOld where an older version wrote that: the change would come with an upgrade, for which
// orchestrators have to be stopped.
func (d Directory) change(f func([]Credential) ([]Credential, error)) error {
	return d.locked(func(all []Credential) error {
		switch _, old, err := d.old(); {
		case err != nil:
			return err
		case old:
			return fmt.Errorf("%s: %w", d, ErrOld)
		}
		all, err := f(all)
		if err != nil {
			return err
		}
		return d.writeAll(all)
	})
}

// locked calls f with the credentials, none if there are none, while no other process changes
// them.
func (d Directory) locked(f func([]Credential) error) (err error) {
	lock, err := filelock.Lock(filepath.Join(string(d), ".lock"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", d, ErrNone)
		}
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	all, err := d.Credentials()
	if err != nil && !errors.Is(err, ErrNone) {
		return err
	}
	return f(all)
}

// writeAll writes the configuration of the credentials, and them.
func (d Directory) writeAll(all []Credential) error {
	config, err := Config(all)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(d.write(ConfigFile, config), d.write(partiesFile, string(data)+"\n"))
}

// newKey makes a key and writes its seed.
func (d Directory) newKey(p Party) (c Credential, err error) {
	if err := p.Check(); err != nil {
		return c, err
	}
	key, err := nkeys.CreateUser()
	if err != nil {
		return c, err
	}
	defer key.Wipe()
	public, err := key.PublicKey()
	if err != nil {
		return c, err
	}
	seed, err := key.Seed()
	if err != nil {
		return c, err
	}
	return Credential{p, public}, d.write(filepath.Base(d.Seed(p)), string(seed)+"\n")
}

// write replaces a file as a whole.
func (d Directory) write(name, text string) error {
	half, err := os.CreateTemp(string(d), "."+name+".*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = half.WriteString(text)
	if err = errors.Join(err, half.Close()); err == nil {
		err = os.Rename(half.Name(), filepath.Join(string(d), name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(half.Name()))
	}
	return nil
}

// Parse returns the party that a person names: its String, a role, or a person's name.
func (d Directory) Parse(s string) (Party, error) {
	all, err := d.Credentials()
	if err != nil {
		return Party{}, err
	}
	var found []Party
	for _, c := range all {
		if (c.String() == s || c.Name == s) && !slices.Contains(found, c.Party) {
			found = append(found, c.Party)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Party{}, fmt.Errorf("%q: %w", s, ErrUnknown)
	}
	names := make([]string, len(found))
	for i, p := range found {
		names[i] = p.String()
	}
	return Party{}, fmt.Errorf("%q is several: say %s", s, strings.Join(names, " or "))
}
