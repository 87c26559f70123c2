package role

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/agent/brain/prompt"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Brains is what a role thinks with: one brain for all its states, others for
// some of them.
type Brains struct {
	Role    string
	Default brain.Brain            // nil: every state needs its own
	State   map[string]brain.Brain // by state

	specs   map[string]string // by state, "" for the role's; of rules there is none
	servers mcp.Servers       // whose tools its models are given
}

// ErrNoBrain means that a role was given nothing to think with.
var ErrNoBrain = errors.New("no brain")

// For returns the brain of a state whose work is w. That is the state's own, the rule of a
// self-check if that is the work, or else the role's.
func (b Brains) For(state string, w workflow.WorkSpec) (brain.Brain, error) {
	if own, ok := b.State[state]; ok {
		return own, nil
	}
	if w.Does == workflow.SelfCheck {
		return rules.Checker{}, nil
	}
	if b.Default == nil {
		return nil, fmt.Errorf("%w for %s in %s: give one with --brain %s=exec:COMMAND", ErrNoBrain, b.Role, state, b.Role)
	}
	return b.Default, nil
}

// errForbidden means that the configuration of the repository permits no brain of the role.
var errForbidden = errors.New("the configuration of the repository does not permit it")

// Permitted returns the brain of a state as For does, if the configuration of the
// repository permits it. Of a list it returns the ones that it permits. Otherwise the error
// says what is permitted, and is for people.
func (b Brains) Permitted(state string, w workflow.WorkSpec, config instance.Configuration) (brain.Brain, error) {
	think, err := b.For(state, w)
	if err != nil || config.Brains == nil {
		return think, err
	}
	forbidden := func(name string) bool { return !repoconfig.PermitsBrain(config.Brains, name) }
	if chain, ok := think.(brain.Chain); ok {
		left := slices.DeleteFunc(slices.Clone(chain), func(l brain.Link) bool { return forbidden(l.Name) })
		if len(left) > 0 {
			return left, nil
		}
	} else if spec, named := b.spec(state, w); !named || !forbidden(spec) {
		return think, nil
	}
	return nil, fmt.Errorf("%w: %s works with a brain other than %s (brains of %s at %.12s)", errForbidden, b.Role,
		strings.Join(config.Brains, ", "), config.File, config.Commit)
}

// spec returns the specification of the brain that For returns; named is false for rules.
func (b Brains) spec(state string, w workflow.WorkSpec) (spec string, named bool) {
	if _, own := b.State[state]; own {
		spec, named = b.specs[state]
		return spec, named
	}
	if w.Does == workflow.SelfCheck {
		return "", false
	}
	spec, named = b.specs[""]
	return spec, named
}

// Specs is what --brain was given: ROLE[.STATE]=SPEC.
type Specs map[string]string

// ParseSpecs reads --brain values. Within a service of one role, ROLE may be left out.
func ParseSpecs(values []string, role string) (Specs, error) {
	specs := Specs{}
	for _, v := range values {
		who, spec, found := strings.Cut(v, "=")
		if !found || strings.HasPrefix(v, "exec:") || who == "" {
			who, spec = role, v
		}
		if name, state, dotted := strings.Cut(who, "."); name == "" || spec == "" || dotted && state == "" {
			return nil, fmt.Errorf("--brain %q: want ROLE=SPEC or ROLE.STATE=SPEC, such as developer=exec:./fix.sh", v)
		}
		if _, dup := specs[who]; dup {
			return nil, fmt.Errorf("--brain %s is given twice", who)
		}
		specs[who] = spec
	}
	return specs, nil
}

// Roles lists the roles that the specs name, sorted.
func (s Specs) Roles() []string {
	var roles []string
	for who := range s {
		role, _, _ := strings.Cut(who, ".")
		roles = append(roles, role)
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

// Check refuses specs for roles that are not there.
func (s Specs) Check(roles []string) error {
	for _, name := range s.Roles() {
		if !slices.Contains(roles, name) {
			return fmt.Errorf("--brain %s: there is no such role here; want one of %s", name, strings.Join(roles, ", "))
		}
	}
	return nil
}

// CheckStates refuses specs for states that no definition gives to the role. Questions are
// answered by the role's brain, whatever the state.
func (s Specs) CheckStates(defs []*workflow.Definition) error {
	for _, who := range slices.Sorted(maps.Keys(s)) {
		role, state, dotted := strings.Cut(who, ".")
		if !dotted {
			continue
		}
		var own []string
		for _, d := range defs {
			for _, name := range d.StateNames() {
				if row, _ := d.State(name); row.Owner == role && !slices.Contains(own, name) {
					own = append(own, name)
				}
			}
		}
		if !slices.Contains(own, state) {
			return fmt.Errorf("--brain %s: %s has no state %s; want one of %s", who, role, state, strings.Join(own, ", "))
		}
	}
	return nil
}

// CheckBrains refuses brains for roles that are not among roles, and for states that no
// definition gives to the role. It refuses templates for neither a role nor a state, wrong
// presets, and wrong MCP servers. The PM, which reads the words of strangers, is given none.
func (s Settings) CheckBrains(roles []string, defs []*workflow.Definition) error {
	specs, err := ParseSpecs(s.Brain, "")
	if err == nil {
		err = specs.Check(roles)
	}
	if err == nil {
		err = specs.CheckStates(defs)
	}
	if err == nil {
		err = s.checkScopes(roles)
	}
	if err != nil {
		return err
	}
	prompts, err := prompt.Read(s.Prompts)
	if err == nil {
		err = prompts.CheckNames(defs)
	}
	if err == nil {
		_, err = exec.ReadPresets(s.Presets)
	}
	if err == nil {
		var servers mcp.Servers
		if servers, err = mcp.Read(s.Servers); err == nil {
			err = servers.CheckRoles(slices.DeleteFunc(slices.Clone(roles), func(role string) bool { return role == "pm" }))
		}
		if err != nil {
			err = fmt.Errorf("--mcp-servers: %w", err)
		}
	}
	return err
}
