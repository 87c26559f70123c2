package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// listAPI is a subject that every active orchestrator listens to.
const listAPI = "sb.api.list"

// listeners is what a node knows of who listens to the orchestrators' subjects: its
// own clients, and what its routes say. Where a route is missing, or says nothing
// though the node at its other end has a client that listens, requests find nobody.
func (n *node) interest() string {
	var routes struct {
		Routes []struct {
			ID      int    `json:"rid"`
			Name    string `json:"remote_name"`
			Account string
			Start   time.Time
			All     int            `json:"subscriptions"`
			Subs    []subscription `json:"subscriptions_list_detail"`
		}
	}
	var clients struct {
		Connections []struct {
			ID   int `json:"cid"`
			Name string
			Subs []subscription `json:"subscriptions_list_detail"`
		}
	}
	if err := errors.Join(n.monitorRequest("routez?subs=detail", &routes), n.monitorRequest("connz?subs=detail", &clients)); err != nil {
		return fmt.Sprintf("\n  it does not say who listens: %v", err)
	}
	var b strings.Builder
	for _, c := range clients.Connections {
		if countListeners(c.Subs) > 0 {
			fmt.Fprintf(&b, "\n  client %d %s listens to %s", c.ID, c.Name, listAPI)
		}
	}
	for _, r := range routes.Routes {
		fmt.Fprintf(&b, "\n  route %d to %s %s, since %s, says of %s: %d, and of %d other subjects",
			r.ID, r.Name, r.Account, r.Start.Format(time.TimeOnly), listAPI, countListeners(r.Subs), r.All)
	}
	return b.String()
}

// listener is a subscription.
type subscription struct {
	Subject string
	Queue   string `json:"qgroup"`
}

// weight is how many of them are the orchestrators'.
func countListeners(all []subscription) (n int) {
	for _, l := range all {
		if l.Subject == listAPI {
			n++
		}
	}
	return n
}

// heard is, from each node to each, whether what is published at the one reaches
// who has begun to listen at the other just now, and whether the orchestrators
// answer who asks at each.
func (k *cluster) connectivity() string {
	var b strings.Builder
	var conns []*nats.Conn
	for _, n := range k.nodes {
		nc, err := nats.Connect(fmt.Sprint("nats://127.0.0.1:", n.port), nats.NoReconnect())
		if err != nil {
			return fmt.Sprintf("\n  %s takes no clients: %v", n.name, err)
		}
		defer nc.Close()
		conns = append(conns, nc)
	}
	for to, nc := range conns {
		sub, err := nc.SubscribeSync(nc.NewInbox())
		if err != nil {
			return fmt.Sprintf("\n  %v", err)
		}
		came := map[string]bool{}
		for try := 0; try < 5 && len(came) < len(conns); try++ { // the others learn of it a little later
			for from, other := range conns {
				_ = other.Publish(sub.Subject, []byte(k.nodes[from].name))
			}
			for m, err := sub.NextMsg(time.Second); err == nil && len(came) < len(conns); m, err = sub.NextMsg(time.Second) {
				came[string(m.Data)] = true
			}
		}
		fmt.Fprintf(&b, "\n  %s hears %v", k.nodes[to].name, slices.Sorted(maps.Keys(came)))
	}
	for i, nc := range conns {
		m, err := nc.Request(listAPI, nil, 5*time.Second)
		if err != nil {
			fmt.Fprintf(&b, "\n  who asks %s at %s hears: %v", listAPI, k.nodes[i].name, err)
			continue
		}
		fmt.Fprintf(&b, "\n  who asks %s at %s hears %d bytes", listAPI, k.nodes[i].name, len(m.Data))
	}
	return b.String()
}
