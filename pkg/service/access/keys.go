package access

import (
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Keys are keys of parties that are in no file: those of a server and of services in one
// process. The zero value has none.
type Keys struct{ pairs map[Party]nkeys.KeyPair }

// NewKeys returns a new key for each party.
func NewKeys(parties ...Party) (Keys, error) {
	k := Keys{pairs: make(map[Party]nkeys.KeyPair, len(parties))}
	for _, p := range parties {
		if err := p.Check(); err != nil {
			return Keys{}, err
		}
		key, err := nkeys.CreateUser()
		if err != nil {
			return Keys{}, err
		}
		k.pairs[p] = key
	}
	return k, nil
}

// Keys reads the newest key of each party.
func (d Directory) Keys() (Keys, error) {
	all, err := d.Credentials()
	if err != nil {
		return Keys{}, err
	}
	k := Keys{pairs: make(map[Party]nkeys.KeyPair, len(all))}
	for _, c := range all {
		seed, err := os.ReadFile(d.Seed(c.Party))
		if err != nil {
			return Keys{}, err
		}
		if k.pairs[c.Party], err = nkeys.ParseDecoratedNKey(seed); err != nil {
			return Keys{}, fmt.Errorf("%s: %w", d.Seed(c.Party), err)
		}
	}
	return k, nil
}

// ServiceSeeds returns the newest seed of each party that is a service.
func (d Directory) ServiceSeeds() (map[Party]string, error) {
	keys, err := d.Keys()
	if err != nil {
		return nil, err
	}
	seeds := map[Party]string{}
	for p, key := range keys.pairs {
		if p.Person() {
			continue
		}
		seed, err := key.Seed()
		if err != nil {
			return nil, err
		}
		seeds[p] = string(seed)
	}
	return seeds, nil
}

// Empty reports whether there is no key.
func (k Keys) Empty() bool { return len(k.pairs) == 0 }

// Config returns the accounts of the parties, as Config does.
func (k Keys) Config() (string, error) {
	all := make([]Credential, 0, len(k.pairs))
	for p, key := range k.pairs {
		public, err := key.PublicKey()
		if err != nil {
			return "", err
		}
		all = append(all, Credential{p, public})
	}
	return Config(all)
}

// Login returns the option of a connection as the party. A party without a key cannot
// connect: ErrUnknown.
func (k Keys) Login(p Party) nats.Option {
	return func(o *nats.Options) error {
		key, ok := k.pairs[p]
		if !ok {
			return fmt.Errorf("%s: %w", p, ErrUnknown)
		}
		public, err := key.PublicKey()
		if err != nil {
			return err
		}
		return nats.Nkey(public, key.Sign)(o)
	}
}

// LoginFile returns the option of a connection with the seed in a file. The file is read
// once: a connection that reconnects after a rotation still proves its first key.
func LoginFile(file string) (nats.Option, error) {
	seed, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key, err := nkeys.ParseDecoratedNKey(seed)
	if err != nil {
		return nil, fmt.Errorf("NKey seed in %s: %w", file, err)
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("NKey seed in %s: %w", file, err)
	}
	if !nkeys.IsValidPublicUserKey(public) {
		return nil, fmt.Errorf("NKey seed in %s: want one of a user, which begins with SU", file)
	}
	return nats.Nkey(public, key.Sign), nil
}

// Services returns the parties that are services: the orchestrator, the plan-manager, the
// gateway, the notifier, the console, and the agents of each role. A role may be given twice.
func Services(roles ...string) []Party {
	all := []Party{{Kind: Orchestrator}, {Kind: PlanManager}, {Kind: Gateway}, {Kind: Notify}, {Kind: Console}}
	seen := map[string]bool{}
	for _, role := range roles {
		if !seen[role] {
			seen[role] = true
			all = append(all, Party{Kind: Agent, Name: role})
		}
	}
	return all
}
