// Command pm is the one voice towards people. The work is done in
// services/pm/app: handler.go does the actions of the role, submit.go opens pull
// requests, status.go keeps the status comment. It judges by pkg/agent/brain/rules,
// which has the texts, too.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/pm/app"
)

func main() {
	confine.Intercept()
	os.Exit(service.Run(context.Background(), app.Main()))
}
