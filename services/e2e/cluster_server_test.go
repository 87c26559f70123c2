package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/testkit/faultproxy"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

const clusterNodes = 3

// cluster is three nats-servers, each a process, that reach each other through
// proxies only: the addresses they advertise lead nowhere.
type cluster struct {
	group   *processGroup
	sync    string // sync_interval of each
	nodes   [clusterNodes]*node
	proxies [clusterNodes][clusterNodes]*faultproxy.Proxy // [from][to]
}

// node is one server. process is its current process.
type node struct {
	name, conf            string
	port, routes, monitor int
	process               *process
}

// startCluster starts a cluster with empty stores.
func startCluster(t *testing.T, c *processGroup, sync string) *cluster {
	t.Helper()
	k := &cluster{group: c, sync: sync}
	for i := range k.nodes {
		k.nodes[i] = &node{name: fmt.Sprint("n", i+1), port: porttest.Reserve(t), routes: porttest.Reserve(t), monitor: porttest.Reserve(t)}
	}
	for i, from := range k.nodes {
		// Its own route, too: a server derives the cluster's size from their number.
		routes := []string{fmt.Sprint("nats-route://127.0.0.1:", from.routes)}
		for j, to := range k.nodes {
			if i != j {
				k.proxies[i][j] = faultproxy.Start(t, fmt.Sprint("127.0.0.1:", to.routes))
				routes = append(routes, "nats-route://"+k.proxies[i][j].Addr())
			}
		}
		from.conf = filepath.Join(t.TempDir(), "nats.conf")
		text := fmt.Sprintf(`
server_name: %s
host: 127.0.0.1
port: %d
http: "127.0.0.1:%d"
debug: true
jetstream {store_dir: %q, sync_interval: %s, max_file_store: 4GB}
cluster {
  name: signalbox, host: 127.0.0.1, port: %d, advertise: "127.0.0.1:1", routes: [%s]
  ping_interval: 3s, ping_max: 2
}
`, from.name, from.port, from.monitor, t.TempDir(), sync, from.routes, strings.Join(routes, ", "))
		if err := os.WriteFile(from.conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		k.start(t, i)
	}
	return k
}

// start starts a node that is not running.
func (k *cluster) start(t *testing.T, i int) {
	t.Helper()
	n := k.nodes[i]
	n.process = k.group.start(t, natsName, binary(t, natsName), "-c", n.conf)
	n.process.expect(t, "Server is ready")
}

// cut holds back all traffic between a node and the others. Clients still reach it.
func (k *cluster) cut(i int, f faultproxy.Fault) {
	for j := range k.nodes {
		if i != j {
			k.proxies[i][j].Set(f)
			k.proxies[j][i].Set(f)
		}
	}
}

// heal ends a cut. With late the held traffic arrives; otherwise the connections
// are reset.
func (k *cluster) heal(i int, late bool) {
	k.cut(i, faultproxy.Fault{})
	for j := range k.nodes {
		if i != j && !late {
			k.proxies[i][j].Reset()
			k.proxies[j][i].Reset()
		}
	}
}

func (k *cluster) pause(i int)  { k.nodes[i].process.signal(syscall.SIGSTOP) }
func (k *cluster) resume(i int) { k.nodes[i].process.signal(syscall.SIGCONT) }

// urls returns the nodes' URLs, from the i-th on.
func (k *cluster) urls(i int) string {
	var all []string
	for j := range k.nodes {
		all = append(all, fmt.Sprint("nats://127.0.0.1:", k.nodes[(i+j)%clusterNodes].port))
	}
	return strings.Join(all, ",")
}

// connectTo connects a client that changes nodes at once, in the order of urls.
func connectTo(t *testing.T, urls string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(urls, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.DontRandomize(),
		nats.PingInterval(2*time.Second), nats.MaxPingsOutstanding(2), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

// awaitReplicated waits until every stream has all replicas with no lag.
func (k *cluster) awaitReplicated(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	var err error
	if !eventually(t.Context(), func(ctx context.Context) bool {
		err = lagging(ctx, js)
		return err == nil
	}) {
		k.fatalf(t, "the cluster does not come together: %v", err)
	}
}

// lagging returns an error that names a stream whose replicas are missing or lag.
func lagging(ctx context.Context, js jetstream.JetStream) error {
	list := js.ListStreams(ctx)
	for info := range list.Info() {
		if info.Cluster == nil || info.Cluster.Leader == "" || len(info.Cluster.Replicas) != info.Config.Replicas-1 {
			return fmt.Errorf("%s has no leader or not all its servers: %+v", info.Config.Name, info.Cluster)
		}
		for _, r := range info.Cluster.Replicas {
			if !r.Current || r.Offline || r.Lag > 0 {
				return fmt.Errorf("%s is behind at %s by %d", info.Config.Name, r.Name, r.Lag)
			}
		}
	}
	return list.Err()
}

// eventually polls holds until it returns true or maxWait has passed.
func eventually(ctx context.Context, holds func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		try, done := context.WithTimeout(ctx, 5*time.Second)
		ok := holds(try)
		done()
		if ok {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}
