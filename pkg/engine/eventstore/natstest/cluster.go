package natstest

import (
	"fmt"
	"net"
	"net/url"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// StartCluster runs n servers as one JetStream cluster, each with a store of
// its own. Right after the start JetStream may still be choosing its leader.
func StartCluster(t testing.TB, n int, o Options) []*Server {
	t.Helper()
	ports := freePorts(t, n)
	var routes []*url.URL
	for _, p := range ports {
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", p)})
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

// freePorts returns n ports of the loopback interface that are free now.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}
