package eval

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/git"
)

// Brains for calibration: Oracle makes the change that was merged, and solves all; Null
// changes nothing, and solves none.
const (
	Oracle = "oracle"
	Null   = "null"
)

// contender is a brain that is measured.
type contender struct {
	name  string
	spec  string            // of each role that needs a brain; empty: oracle, null or a file
	file  string            // flags of resolve, as its --config
	set   map[string]string // policy values, by name
	roles []string          // that need a brain
}

// parseContender reads NAME=SPEC, NAME=@FILE, SPEC, oracle or null.
func parseContender(value string) (contender, error) {
	if value == Oracle || value == Null {
		return contender{name: value}, nil
	}
	name, spec, named := strings.Cut(value, "=")
	if !named || strings.Contains(name, ":") {
		name, spec = "", value
	}
	c := contender{name: name, spec: spec}
	if file, isFile := strings.CutPrefix(spec, "@"); isFile {
		c.spec, c.file = "", file
		if _, err := os.Stat(file); err != nil {
			return c, err
		}
		if c.name == "" {
			c.name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		}
	}
	if c.name == "" {
		_, c.name, _ = strings.Cut(spec, ":")
		c.name = strings.TrimSuffix(filepath.Base(strings.Fields(c.name + " x")[0]), filepath.Ext(c.name))
	}
	switch {
	case !caseID.MatchString(c.name):
		return c, fmt.Errorf("%q: want NAME=SPEC, with letters, digits, dots and dashes in NAME", value)
	case c.name == Oracle || c.name == Null:
		return c, fmt.Errorf("%q: the names oracle and null are taken", value)
	case c.file == "" && !strings.Contains(c.spec, ":"):
		return c, fmt.Errorf("%q: want NAME=SPEC, such as claude=exec:claude, or NAME=@FILE with flags of resolve; or oracle, null", value)
	}
	return c, nil
}

// setPolicies adds to each brain its values of --set: [NAME:]policy.VALUE=X.
func setPolicies(all []contender, values []string) error {
	for _, v := range values {
		key, value, ok := strings.Cut(v, "=")
		name, policy, one := strings.Cut(key, ":")
		if !one {
			name, policy = "", key
		}
		policy, isPolicy := strings.CutPrefix(policy, "policy.")
		if !ok || !isPolicy || policy == "" {
			return fmt.Errorf("--set %q: want policy.NAME=VALUE, or BRAIN:policy.NAME=VALUE", v)
		}
		found := false
		for i := range all {
			if one && all[i].name != name {
				continue
			}
			found = true
			if all[i].set == nil {
				all[i].set = map[string]string{}
			}
			all[i].set[policy] = value
		}
		if !found {
			return fmt.Errorf("--set %q: there is no brain %s", v, name)
		}
	}
	return nil
}

// flags returns the flags of resolve with which the brain works at a case. It writes the
// files for that to dir.
func (c contender) flags(ctx context.Context, repo, dir string, task Case) ([]string, error) {
	switch {
	case c.name == Oracle:
		return c.oracle(ctx, repo, dir, task)
	case c.name == Null:
		return c.each("exec:true"), nil
	case c.file != "":
		return []string{"--config", c.file}, nil
	}
	return c.each(c.spec), nil
}

// each gives all roles that need a brain the same.
func (c contender) each(spec string) []string {
	var flags []string
	for _, role := range c.roles {
		flags = append(flags, "--brain", role+"="+spec)
	}
	return flags
}

// oracle writes the real change, but for what no agent may touch, as two scripts. One has the tests for the
// tester, if the lifecycle has one; the other has the rest for those who write the code.
func (c contender) oracle(ctx context.Context, repo, dir string, task Case) ([]string, error) {
	g := git.New(repo)
	permitted := []string{"diff", "--name-only", "-z", "--no-renames", task.Base, task.Commit, "--", "."}
	for _, pattern := range outbound.DefaultRules().Forbidden { // such as a CI's configuration
		permitted = append(permitted, ":(exclude,glob,icase)"+pattern)
	}
	changed, err := g.Run(ctx, permitted...)
	if err != nil {
		return nil, err
	}
	code := slices.DeleteFunc(fields(changed), func(name string) bool { return slices.Contains(task.Tests, name) })
	var flags []string
	for _, part := range []struct {
		roles []string
		name  string
		files []string
	}{{[]string{"tester.creating_tests"}, "tests.sh", task.Tests}, {c.roles, "code.sh", code}} {
		patch, err := g.Output(ctx, git.MaxOutput, append([]string{"--literal-pathspecs", "diff", "--binary", "--no-renames", "--full-index",
			task.Base, task.Commit, "--"}, part.files...)...)
		if err != nil {
			return nil, err
		}
		script := filepath.Join(dir, part.name)
		if err := os.WriteFile(script, applies(patch), 0o700); err != nil {
			return nil, err
		}
		for _, role := range part.roles {
			flags = append(flags, "--brain", role+"=exec:"+script)
		}
	}
	return flags, nil
}

// applies returns a script that applies the patch, unless it is applied.
func applies(patch []byte) []byte {
	return fmt.Appendf(nil, `#!/bin/sh
set -e
patch=$(mktemp)
base64 -d >"$patch" <<'END'
%s
END
git apply --reverse --check "$patch" 2>/dev/null || git apply --whitespace=nowarn "$patch"
rm "$patch"
`, base64.StdEncoding.EncodeToString(patch))
}
