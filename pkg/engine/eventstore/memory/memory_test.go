package memory_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/eventstoretest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
)

func TestStore(t *testing.T) {
	eventstoretest.Run(t, func(*testing.T) eventstore.Store { return memory.New() })
}

func TestStoreWithForeignMessages(t *testing.T) {
	eventstoretest.RunForeign(t, func(*testing.T) (eventstore.Store, eventstoretest.Intrude) {
		s := memory.New()
		return s, s.Intrude
	})
}

func BenchmarkAppend(b *testing.B) { eventstoretest.BenchmarkAppend(b, memory.New()) }
