package app

import (
	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/link"
	"github.com/signalbox/signalbox/pkg/service"
)

// links opens what instances spawn, and tells instances how those they are
// linked to ended.
func links(h *service.Host, e *engine.Engine, changes *engine.Changes, d registry) {
	h.AddBase("links", link.New(link.Config{Engine: e, Definitions: d, Changes: changes, Log: h.Log}).Run)
}
