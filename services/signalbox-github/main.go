// Command signalbox-github serves what holds the token of the forge: the gateway, the PM, the
// committer, the shepherd and the git-manager. Call it as `signalbox-github gateway`, or by a link that is
// called gateway. The work of each is done in its app, services/gateway/app and so on.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
	"github.com/signalbox/signalbox/pkg/service"
	committer "github.com/signalbox/signalbox/services/committer/app"
	gateway "github.com/signalbox/signalbox/services/gateway/app"
	gitmanager "github.com/signalbox/signalbox/services/git-manager/app"
	pm "github.com/signalbox/signalbox/services/pm/app"
	shepherd "github.com/signalbox/signalbox/services/shepherd/app"
)

func main() {
	confine.Intercept()
	os.Exit(service.Multicall(context.Background(), []service.Main{
		committer.Main(), gateway.Main(), gitmanager.Main(), pm.Main(), shepherd.Main(),
	}))
}
