package cli

import (
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type definitionVerify struct {
	sources
	Targets []string `arg:"" optional:"" name:"name-or-file" help:"Names of lifecycles, or paths of their YAML files; all there are without."`
	Role    []string `name:"role" env:"-" placeholder:"NAME" help:"Existing role: any other owner is a problem. May be repeated."`
}

// Run verifies definitions and prints their problems.
func (c definitionVerify) Run(env *term.Env) error {
	if len(c.Targets) == 0 {
		catalog, err := c.all()
		if workflow.Problems(err) != nil {
			return c.judged(env, view.Verdict(c.WorkflowDir, workflow.Problems(err)))
		}
		if err != nil {
			return err
		}
		for _, d := range catalog.All() {
			c.Targets = append(c.Targets, d.Name)
		}
	}
	verdicts := make([]view.Verification, len(c.Targets))
	for i, target := range c.Targets {
		var err error
		if verdicts[i], err = c.verify(target); err != nil {
			return err
		}
	}
	return c.judged(env, verdicts...)
}

// verify returns what is wrong with a definition, and what is seldom meant. It returns
// an error if there is no such definition.
func (c definitionVerify) verify(target string) (view.Verification, error) {
	d, err := c.load(target)
	if err == nil {
		return view.Verdict(target, workflow.Verify(d, c.Role...)).Warned(workflow.Warn(d)), nil
	}
	problems := workflow.Problems(err)
	if problems == nil || errors.Is(err, workflow.ErrUnknown) {
		return view.Verification{}, err
	}
	return view.Verdict(target, problems), nil
}

// judged prints verifications. It returns an error if one has problems.
func (c definitionVerify) judged(env *term.Env, verdicts ...view.Verification) error {
	wrong := 0
	for _, v := range verdicts {
		wrong += len(v.Problems)
		if err := v.Print(env); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%s", view.Count(wrong, "problem"))
	}
	return nil
}
