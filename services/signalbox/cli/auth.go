package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// authCommand has the commands about who may connect to a NATS server. They change files
// only: the server reads them when it starts, and again at a reload.
type authCommand struct {
	Init      authInit      `cmd:"" help:"Make the keys of all services and of one person who administers, the key of attestations, and the accounts that nats-server reads. Existing keys are kept."`
	AddAgent  authAddAgent  `cmd:"" help:"Add the agents of a role."`
	AddPerson authAddPerson `cmd:"" help:"Add a person."`
	Ls        authLs        `cmd:"" help:"List the parties with their kinds and keys."`
	Revoke    authRevoke    `cmd:"" help:"Remove a party, with all of its keys."`
	Rotate    authRotate    `cmd:"" help:"Give a party a new key. The one before it stays valid until --finish."`
	Upgrade   authUpgrade   `cmd:"" help:"Rewrite the accounts of an older version. Keys stay, and a copy of the file is kept."`
	Env       authEnv       `cmd:"" help:"Print the seeds of all services as variables NKEY_PARTY, for platforms that take secrets from variables."`
}

// authDir is the directory of the credentials.
type authDir struct {
	Dir string `name:"dir" env:"SIGNALBOX_AUTH_DIR" type:"path" default:"signalbox-access" placeholder:"DIR" help:"Where the keys are: ${default} by default. Keep it out of repositories and backups that others read."`
}

func (a authDir) directory() access.Directory { return access.Directory(a.Dir) }

// attestKey returns the file of the key that signs attestations.
func (a authDir) attestKey() string { return filepath.Join(a.Dir, "attest.key") }

// again returns a command of auth on the same directory, for people to copy.
func (a authDir) again(command string) string {
	command = "signalbox auth " + command
	if usual, err := filepath.Abs("signalbox-access"); err == nil && a.Dir == usual {
		return command
	}
	return command + " --dir " + term.Quote(a.Dir)
}

// parse returns the party that a person names.
func (a authDir) parse(name string) (access.Party, error) {
	p, err := a.directory().Parse(name)
	return p, a.hint(err)
}

// hint returns an error with the command that leads on.
func (a authDir) hint(err error) error {
	switch {
	case errors.Is(err, access.ErrNone):
		return fmt.Errorf("%w: %s makes them", err, a.again("init"))
	case errors.Is(err, access.ErrUnknown):
		return fmt.Errorf("%w: %s names all", err, a.again("ls"))
	case errors.Is(err, access.ErrOld):
		return fmt.Errorf("%w: %s rewrites them, and names what has to be restarted", err, a.again("upgrade"))
	}
	return err
}

// reload prints how a change takes effect.
func (a authDir) reload(env *term.Env) {
	fmt.Fprintf(env.Stdout, "nats-server reads %s when it starts, and at a reload: nats-server --signal reload\n",
		filepath.Join(a.Dir, access.ConfigFile))
}

type authInit struct {
	authDir
	sources
	Admin string `name:"admin" env:"-" default:"admin" placeholder:"NAME" help:"The person who administers: ${default} by default."`
}

// Run makes credentials. It adds the roles of lifecycles that came since.
func (c authInit) Run(env *term.Env) error {
	catalog, err := c.all()
	if err != nil {
		return err
	}
	parties := access.Services()
	for _, d := range catalog.All() {
		for _, role := range d.Roles() {
			parties = append(parties, access.Party{Kind: access.Agent, Name: role})
		}
	}
	person := access.Party{Kind: access.Admin, Name: c.Admin}
	if err := person.Check(); err != nil {
		return service.Usagef("--admin %s: %w", c.Admin, err)
	}
	added, err := c.directory().Init(append(parties, person)...)
	if err != nil {
		return c.hint(err)
	}
	if _, err := attestation.OpenKey(c.attestKey()); err != nil {
		return err
	}
	if len(added) == 0 {
		fmt.Fprintf(env.Stdout, "%s has all of them; nothing was changed\n", c.Dir)
		return nil
	}
	names := make([]string, len(added))
	for i, p := range added {
		names[i] = p.String()
	}
	fmt.Fprintf(env.Stdout, "added %s to %s\n", strings.Join(names, ", "), c.Dir)
	fmt.Fprintf(env.Stdout, "each is started with --nats-nkey %s\n", filepath.Join(c.Dir, "PARTY.nk"))
	fmt.Fprintf(env.Stdout, "the orchestrator alone is started with --attest-key %s; verifiers get %s\n", c.attestKey(), attestation.PublicFile(c.attestKey()))
	c.reload(env)
	return nil
}

type authAddAgent struct {
	authDir
	sources
	Role string `arg:"" help:"The role."`
}

// Run adds the agents of a role. It refuses one that no lifecycle has: its agents would
// never get work.
func (c authAddAgent) Run(env *term.Env) error {
	catalog, err := c.all()
	if err != nil {
		return err
	}
	roles := allinone.Roles(catalog.All()...)
	if slices.Sort(roles); !slices.Contains(roles, c.Role) {
		return service.Usagef("no lifecycle here has the role %q%s; want one of %s; --workflow-dir names the directory of lifecycles of your own",
			c.Role, orMeant(c.Role, roles), strings.Join(roles, ", "))
	}
	return c.add(env, access.Party{Kind: access.Agent, Name: c.Role})
}

type authAddPerson struct {
	authDir
	Name string `arg:"" help:"The person's name: letters, digits, - and _."`
	Can  string `name:"can" env:"-" required:"" enum:"view,act,admin" placeholder:"WHAT" help:"view reads; act also answers, pauses, cancels, retries; admin also overrides, migrates and reads the log itself."`
}

// Run adds a person.
func (c authAddPerson) Run(env *term.Env) error {
	return c.add(env, access.Party{Kind: access.Kind(c.Can), Name: c.Name})
}

func (a authDir) add(env *term.Env, p access.Party) error {
	if err := p.Check(); err != nil {
		return service.Usagef("%w", err)
	}
	if err := a.directory().Add(p); err != nil {
		if errors.Is(err, access.ErrKnown) {
			return fmt.Errorf("%w; %s gives it a new key", err, a.again("rotate "+p.String()))
		}
		return a.hint(err)
	}
	fmt.Fprintf(env.Stdout, "added %s: --nats-nkey %s\n", p, a.directory().Seed(p))
	a.reload(env)
	return nil
}

type authLs struct{ authDir }

// Run lists the parties.
func (c authLs) Run(env *term.Env) error {
	all, err := c.directory().Credentials()
	if err != nil {
		return c.hint(err)
	}
	if env.JSON {
		return env.Print(all)
	}
	keys := map[access.Party][]string{}
	for _, one := range all {
		keys[one.Party] = append(keys[one.Party], one.Key)
	}
	var parties []access.Party
	for p := range keys {
		parties = append(parties, p)
	}
	slices.SortFunc(parties, func(a, b access.Party) int { return strings.Compare(a.String(), b.String()) })
	for _, p := range parties {
		fmt.Fprintf(env.Stdout, "%-28s %-12s %s\n", p, p.Kind, strings.Join(keys[p], " "))
	}
	return nil
}

type authEnv struct{ authDir }

// Run prints the seeds of the services.
func (c authEnv) Run(env *term.Env) error {
	seeds, err := c.directory().ServiceSeeds()
	if err != nil {
		return c.hint(err)
	}
	for _, p := range slices.SortedFunc(maps.Keys(seeds), func(a, b access.Party) int { return strings.Compare(a.String(), b.String()) }) {
		name := strings.TrimPrefix(p.String(), string(access.Agent)+"-")
		fmt.Fprintf(env.Stdout, "NKEY_%s=%s\n", strings.ToUpper(strings.ReplaceAll(name, "-", "_")), seeds[p])
	}
	return nil
}

type authRevoke struct {
	authDir
	Party string `arg:"" help:"The party as ls names it, a role, or a person's name."`
}

// Run removes a party.
func (c authRevoke) Run(env *term.Env) error {
	p, err := c.parse(c.Party)
	if err != nil {
		return err
	}
	if p.Kind == access.Orchestrator {
		return fmt.Errorf("without the orchestrator nothing answers; %s replaces its key", c.again("rotate "+p.String()))
	}
	if err := c.directory().Revoke(p); err != nil {
		return c.hint(err)
	}
	fmt.Fprintf(env.Stdout, "%s is removed; its connections end at the reload\n", p)
	c.reload(env)
	return nil
}

type authRotate struct {
	authDir
	Party  string `arg:"" help:"The party as ls names it, a role, or a person's name."`
	Finish bool   `name:"finish" env:"-" help:"Remove the keys before the newest one, once all that use them were restarted."`
}

// Run replaces the key of a party in two steps, so that nothing has to stop.
func (c authRotate) Run(env *term.Env) error {
	p, err := c.parse(c.Party)
	if err != nil {
		return err
	}
	if c.Finish {
		n, err := c.directory().Drop(p)
		if err != nil {
			return c.hint(err)
		}
		fmt.Fprintf(env.Stdout, "%s: %d older keys are removed\n", p, n)
		c.reload(env)
		return nil
	}
	if err := c.directory().Rotate(p); err != nil {
		return c.hint(err)
	}
	fmt.Fprintf(env.Stdout, "%s has a new key in %s; the one before is valid as well\n", p, c.directory().Seed(p))
	c.reload(env)
	fmt.Fprintf(env.Stdout, "then restart what uses it, and: %s\n", c.again("rotate "+p.String()+" --finish"))
	return nil
}
