package role_test

import (
	"context"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/role"
	eventlog "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/servicetest"
)

// An agent that has nothing to do asks nobody, and so does not miss an answer.
func TestAnAgentGoesWhereTheLogIs(t *testing.T) {
	t.Parallel()
	here, there := natstest.Start(t, natstest.Options{}), natstest.Start(t, natstest.Options{})
	for _, s := range []*natstest.Server{here, there} {
		store, err := eventlog.Open(t.Context(), s.JetStream(t), eventlog.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close(context.Background()) })
		if _, err := eventlog.Provision(t.Context(), s.JetStream(t), eventlog.ProvisionConfig{}); err != nil {
			t.Fatal(err)
		}
	}
	leave := func() {
		if err := here.JetStream(t).DeleteStream(t.Context(), subject.EventStream); err != nil {
			t.Fatal(err)
		}
	}
	settings := role.Settings{Brain: []string{"exec:true"}, WorkDir: t.TempDir(), Sandbox: "none", Workers: 1}
	servicetest.Moves(t, "developer", here, there, leave, func(ctx context.Context, h *service.Host) error {
		return settings.Setup(ctx, h, "developer")
	})
}
