package natstest

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

// StartCluster runs n servers as one JetStream cluster, each with a store of
// its own. Right after the start JetStream may still be choosing its leader.
func StartCluster(t testing.TB, n int, o Options) []*Server {
	t.Helper()
	ports := make([]int, n)
	routes := make([]*url.URL, n)
	for i := range n {
		ports[i] = porttest.Reserve(t)
		routes[i] = &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", ports[i])}
	}
	o.Dir = ""
	change := o.Change
	servers := make([]*Server, n)
	for i := range servers {
		o.Change = func(so *server.Options) {
			so.ServerName = fmt.Sprintf("natstest-%d", i)
			so.Cluster = server.ClusterOpts{Name: "natstest", Host: "127.0.0.1", Port: ports[i]}
			so.Routes = routes
			if change != nil {
				change(so)
			}
		}
		servers[i] = Start(t, o)
	}
	return servers
}
