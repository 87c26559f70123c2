package app

import (
	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/link"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/service"
)

// links adds the actor that opens spawned instances, and reports the end of an instance to those that
// are linked to it.
func links(h *service.Host, e *engine.Engine, changes *projection.Changes, d registry) {
	h.AddBase("links", link.New(link.Config{Engine: e, Definitions: d, Changes: changes, Log: h.Log}).Run)
}
