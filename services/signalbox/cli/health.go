package cli

import (
	"context"
	"strings"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

type healthCommand struct{ running }

// Run prints how a running system is, a line for each check. It returns an error if a check fails.
func (c healthCommand) Run(ctx context.Context, env *term.Env) error {
	var checks []*pb.HealthCheck
	err := c.call(ctx, env, func(ctx context.Context, s system) (err error) {
		checks, err = s.Health(ctx)
		return err
	})
	if err != nil {
		return err
	}
	e := &checkup{env: env}
	for _, one := range checks {
		detail := one.GetDetail()
		if ids := one.GetInstances(); len(ids) > 0 {
			detail += ": " + strings.Join(ids, ", ")
		}
		e.say(finding{one.GetCheck(), status(one.GetStatus()), detail, one.GetAdvice()})
	}
	return e.verdict()
}
