package allinone

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/dispatch"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/ledger"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
)

// checkCovered returns a usage error for a budget or a limit of repositories that are none
// of those watched. The orchestrator refuses those that do not parse.
func (c Config) checkCovered() error {
	for _, text := range c.Budgets {
		if b, err := ledger.Parse(text); err == nil && !watched(c.Watch, b.Repo) {
			return service.Usagef("--budget %s: %s", text, unwatched(c.Watch, b.Repo))
		}
	}
	for _, text := range c.AtOnce {
		if l, err := dispatch.ParseLimit(text); err == nil && !watched(c.Watch, l.Repo) {
			return service.Usagef("--at-once %s: %s", text, unwatched(c.Watch, l.Repo))
		}
	}
	return nil
}

// watched reports whether a pattern may match one of the repositories of --repo. With
// none of them, or none in the pattern, it does.
func watched(repos []string, pattern string) bool {
	if pattern == "" || len(repos) == 0 {
		return true
	}
	owner, _, _ := strings.Cut(pattern, "/")
	return slices.ContainsFunc(repos, func(one string) bool {
		of, name, _ := strings.Cut(one, "/")
		switch {
		case strings.HasPrefix(one, "!"):
			return false
		case one == forgeside.Installed, instance.InRepositories(pattern, one), instance.InRepositories(one, pattern):
			return true
		}
		return strings.ContainsAny(name, "*?[") && strings.ContainsAny(pattern, "*?[") && instance.InRepositories(owner+"/x", of+"/x")
	})
}

func unwatched(repos []string, pattern string) string {
	text := fmt.Sprintf("none of the repositories here is %s; they are %s", pattern, strings.Join(repos, ", "))
	in := slices.DeleteFunc(slices.Clone(repos), func(one string) bool { return strings.HasPrefix(one, "!") })
	if near := workflow.Nearest(pattern, in); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return text
}
