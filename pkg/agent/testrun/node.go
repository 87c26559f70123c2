package testrun

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

func nodeTest(tree fs.FS, _ string) (Plan, bool, error) { return nodePackage(tree, "test") }

// nodePackage detects a package.json with one of the scripts. The lock file or the
// packageManager field names the program that runs it.
func nodePackage(tree fs.FS, scripts ...string) (Plan, bool, error) {
	content := text(tree, "package.json")
	if content == "" {
		return Plan{}, false, nil
	}
	var pkg struct {
		Scripts        map[string]string `json:"scripts"`
		PackageManager string            `json:"packageManager"`
	}
	if err := json.Unmarshal([]byte(content), &pkg); err != nil {
		return Plan{}, false, fmt.Errorf("package.json: %w", err)
	}
	i := slices.IndexFunc(scripts, func(name string) bool {
		script := pkg.Scripts[name]
		// npm init writes the latter for a package without tests.
		return strings.TrimSpace(script) != "" && !strings.Contains(script, "no test specified")
	})
	if i < 0 {
		return Plan{}, false, nil
	}
	tool, _, _ := strings.Cut(pkg.PackageManager, "@")
	switch {
	case tool == "pnpm" || tool == "yarn" || tool == "npm":
	case exists(tree, "pnpm-lock.yaml"):
		tool = "pnpm"
	case exists(tree, "yarn.lock"):
		tool = "yarn"
	default:
		tool = "npm"
	}
	argv := []string{tool, "run", scripts[i]}
	if scripts[i] == "test" {
		argv = []string{tool, "test"}
	}
	plan := Plan{Tool: tool, Source: "package.json", Argv: argv}
	if scripts[i] == "test" {
		plan.script, plan.Runner, plan.nested = followScript(pkg.Scripts, "test")
		switch plan.Runner {
		case "jest":
			plan = plan.with("--verbose") // it names the tests that pass
		case "vitest":
			plan = plan.with("--reporter=verbose")
		}
	}
	return plan, true, nil
}

// with returns the plan with more arguments for the program that its script ends with.
func (p Plan) with(args ...string) Plan {
	p.Argv = slices.Clone(p.Argv)
	if p.Tool == "npm" && !slices.Contains(p.Argv, "--") {
		p.Argv = append(p.Argv, slices.Repeat([]string{"--"}, 1+p.nested)...) // each npm takes one
	}
	p.Argv = append(p.Argv, args...)
	return p
}

// followScript returns the script by which the tests run: that of the name, or the script that it
// runs last by npm, pnpm or yarn. runner is the script's test program, if arguments reach it, and
// npms is how many npm pass them on.
func followScript(scripts map[string]string, name string) (script, runner string, npms int) {
	for range maxNested {
		script = scripts[name]
		if scripts["post"+name] != "" {
			return script, "", npms
		}
		parts := strings.Split(script, "&&")
		m := runsScript.FindStringSubmatch(parts[len(parts)-1])
		if m == nil || scripts[m[3]] == "" || m[1] == "npm" && m[2] == "" && m[3] != "test" || !plainScript.MatchString(script) {
			return script, scriptRunner(script), npms
		}
		if m[1] == "npm" {
			npms++
		}
		name = m[3]
	}
	return script, "", npms
}

// maxNested bounds how many scripts run one another.
const maxNested = 5

// runsScript matches a part of a script that runs another script, with no arguments of its own.
var runsScript = lazyregexp.New(`^\s*(npm|pnpm|yarn)( run| run-script)? ([\w:.-]+)\s*$`)

// scriptRunner returns the test program that a script runs last, so that arguments after
// the script are that program's. It is empty if the script is not as plain as that.
func scriptRunner(script string) string {
	if strings.ContainsAny(script, "|;&>\n`$#(") && !plainScript.MatchString(script) {
		return ""
	}
	parts := strings.Split(script, "&&")
	words := strings.Fields(parts[len(parts)-1])
	for len(words) > 0 {
		program := path.Base(words[0])
		switch {
		case assigned.MatchString(words[0]), slices.Contains([]string{"npx", "cross-env", "exec", "--"}, program):
			words = words[1:]
			continue
		case program == "c8" || program == "nyc": // with options of its own, before the runner
			words = words[max(1, slices.IndexFunc(words, func(w string) bool {
				return slices.Contains([]string{"jest", "vitest", "mocha", "node", "tape", "ava", "tap"}, path.Base(w))
			})):]
			continue
		case program == "jest" || program == "vitest" || program == "mocha":
			if slices.ContainsFunc(words, func(w string) bool {
				return strings.HasPrefix(w, "--reporter") || w == "--json" || w == "--watch" || w == "-R"
			}) {
				return ""
			}
			return program
		case program == "react-scripts" && len(words) > 1 && words[1] == "test":
			return "jest"
		case program == "node" && slices.Contains(words, "--test"):
			return "node"
		}
		break
	}
	return ""
}

var (
	plainScript = lazyregexp.New(`^[^|;&>\n` + "`" + `$#(]+(?:&&[^|;&>\n` + "`" + `$#(]+)*$`)
	assigned    = lazyregexp.New(`^[A-Za-z_]\w*=\S*$`)
)
