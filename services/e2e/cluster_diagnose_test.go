package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// fatalf ends the test and logs what each node reports about the others and about
// every Raft group.
func (k *cluster) fatalf(t *testing.T, format string, args ...any) {
	t.Helper()
	k.diagnose(t)
	t.Fatalf(format, args...)
}

func (k *cluster) diagnose(t *testing.T) {
	t.Helper()
	for _, n := range k.nodes {
		var b strings.Builder
		leaderless, err := n.diagnose(&b)
		if err != nil {
			fmt.Fprintf(&b, "\n  it does not answer: %v", err)
		}
		if n.process.ended() {
			b.WriteString("\n  it is not running")
		} else {
			b.WriteString(n.blockedGoroutines())
			b.WriteString(n.interest())
		}
		for _, group := range leaderless {
			fmt.Fprintf(&b, "\n  its last log lines about %s:", group)
			about := slices.DeleteFunc(slices.Clone(n.process.output.snapshot()), func(line string) bool { return !strings.Contains(line, group) })
			b.WriteString("\n    " + strings.Join(about[max(len(about)-20, 0):], "\n    "))
		}
		t.Logf("%s:%s", n.name, b.String())
	}
	t.Logf("connectivity:%s", k.connectivity())
}

// raftGroup is a node's report on one Raft group.
type raftGroup struct {
	State, Leader      string
	Observer, Paused   bool
	Overrun            bool
	Term               uint64
	Vote               string `json:"voted_for"`
	Size               int
	Quorum             int    `json:"quorum_needed"`
	LastTerm           uint64 `json:"pterm"`
	Last               uint64 `json:"pindex"`
	Committed, Applied uint64
	CatchingUp         bool `json:"catching_up"`
	Error              any  `json:"wal_error"`
	Proposed           int  `json:"ipq_proposal_len"`
	Entries            int  `json:"ipq_entry_len"`
	Responses          int  `json:"ipq_resp_len"`
	Applying           int  `json:"ipq_apply_len"`
	Peers              map[string]struct {
		Name string
		Last uint64 `json:"last_replicated_index"`
		Seen string `json:"last_seen"`
	}
}

func (e raftGroup) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %q, term %d, voted for %q, log to %d of term %d, committed %d, applied %d, %d of %d needed",
		e.State, e.Leader, e.Term, e.Vote, e.Last, e.LastTerm, e.Committed, e.Applied, e.Quorum, e.Size)
	for what, is := range map[string]bool{"observer": e.Observer, "paused": e.Paused, "overrun": e.Overrun, "catching up": e.CatchingUp} {
		if is {
			b.WriteString(", " + what)
		}
	}
	if e.Error != nil {
		fmt.Fprintf(&b, ", error %v", e.Error)
	}
	fmt.Fprintf(&b, ", waiting %d %d %d %d", e.Proposed, e.Entries, e.Responses, e.Applying)
	for _, id := range slices.Sorted(maps.Keys(e.Peers)) {
		p := e.Peers[id]
		fmt.Fprintf(&b, "; %s (%s) has %d, seen %s ago", p.Name, id, p.Last, p.Seen)
	}
	return b.String()
}

// diagnose queries a node and returns the groups it knows no leader of.
func (n *node) diagnose(b *strings.Builder) (leaderless []string, err error) {
	var health struct{ Status, Error string }
	var meta struct {
		Details []struct {
			Streams []struct {
				Name   string
				Group  string `json:"stream_raft_group"`
				Groups []struct {
					Name  string
					Group string `json:"raft_group"`
				} `json:"consumer_raft_groups"`
			} `json:"stream_detail"`
		} `json:"account_details"`
	}
	var routes struct {
		Routes []struct {
			Name      string `json:"remote_name"`
			Solicited bool   `json:"did_solicit"`
			Account   string
			Pending   int `json:"pending_size"`
			Idle, RTT string
		}
	}
	var clients struct {
		Connections []struct{ Name string }
	}
	var system, account map[string]map[string]raftGroup
	for path, into := range map[string]any{
		"healthz": &health, "connz": &clients, "routez": &routes, "jsz?accounts=1&streams=1&consumers=1&raft=1": &meta,
		"raftz": &system, "raftz?acc=$G": &account,
	} {
		if err := n.monitorRequest(path, into); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(b, "\n  health: %s %s", health.Status, health.Error)
	b.WriteString("\n  clients:")
	for _, c := range clients.Connections {
		b.WriteString(" " + cmp.Or(c.Name, "-"))
	}
	for _, r := range routes.Routes {
		fmt.Fprintf(b, "\n  route to %s %s, solicited %t, pending %d, idle %s, round trip %s", r.Name, r.Account, r.Solicited, r.Pending,
			r.Idle, r.RTT)
	}
	names := map[string]string{}
	for _, d := range meta.Details {
		for _, s := range d.Streams {
			names[s.Group] = s.Name
			for _, c := range s.Groups {
				names[c.Group] = s.Name + " > " + c.Name
			}
		}
	}
	for _, groups := range []map[string]map[string]raftGroup{system, account} {
		for _, all := range groups {
			for _, group := range slices.Sorted(maps.Keys(all)) {
				e := all[group]
				fmt.Fprintf(b, "\n  %s %s: %s", group, names[group], e)
				if e.Leader == "" {
					leaderless = append(leaderless, group)
				}
			}
		}
	}
	return leaderless, nil
}

// monitorRequest queries the monitoring endpoint of the node.
func (n *node) monitorRequest(path string, into any) error {
	r, err := (&http.Client{Timeout: 10 * time.Second}).Get(fmt.Sprintf("http://127.0.0.1:%d/%s", n.monitor, path))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// listAPI is a subject that every active orchestrator subscribes to.
const listAPI = "sb.api.list"

// interest returns the subscriptions to the orchestrators' subjects that the node
// knows: of its clients and of its routes. Where a route lacks them, requests have
// no responders.
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
		return fmt.Sprintf("\n  its subscriptions are unknown: %v", err)
	}
	var b strings.Builder
	for _, c := range clients.Connections {
		if countListeners(c.Subs) > 0 {
			fmt.Fprintf(&b, "\n  client %d %s subscribes to %s", c.ID, c.Name, listAPI)
		}
	}
	for _, r := range routes.Routes {
		fmt.Fprintf(&b, "\n  route %d to %s %s, since %s, %s: %d, %d subscriptions in all",
			r.ID, r.Name, r.Account, r.Start.Format(time.TimeOnly), listAPI, countListeners(r.Subs), r.All)
	}
	return b.String()
}

// subscription is one subscription in a monitoring reply.
type subscription struct {
	Subject string
	Queue   string `json:"qgroup"`
}

// countListeners returns how many of the subscriptions are the orchestrators'.
func countListeners(all []subscription) (n int) {
	for _, l := range all {
		if l.Subject == listAPI {
			n++
		}
	}
	return n
}

// connectivity reports, for each pair of nodes, whether a new subscription at one
// gets messages from the other, and whether the orchestrators answer at each node.
func (k *cluster) connectivity() string {
	var b strings.Builder
	var conns []*nats.Conn
	for _, n := range k.nodes {
		nc, err := nats.Connect(fmt.Sprint("nats://127.0.0.1:", n.port), nats.NoReconnect())
		if err != nil {
			return fmt.Sprintf("\n  %s accepts no clients: %v", n.name, err)
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
		for try := 0; try < 5 && len(came) < len(conns); try++ { // interest propagates asynchronously
			for from, other := range conns {
				_ = other.Publish(sub.Subject, []byte(k.nodes[from].name))
			}
			for m, err := sub.NextMsg(time.Second); err == nil && len(came) < len(conns); m, err = sub.NextMsg(time.Second) {
				came[string(m.Data)] = true
			}
		}
		fmt.Fprintf(&b, "\n  %s receives from %v", k.nodes[to].name, slices.Sorted(maps.Keys(came)))
	}
	for i, nc := range conns {
		m, err := nc.Request(listAPI, nil, 5*time.Second)
		if err != nil {
			fmt.Fprintf(&b, "\n  request to %s at %s: %v", listAPI, k.nodes[i].name, err)
			continue
		}
		fmt.Fprintf(&b, "\n  request to %s at %s: %d bytes", listAPI, k.nodes[i].name, len(m.Data))
	}
	return b.String()
}

// blockedGoroutines returns the goroutines of a node that have waited for a lock or
// semaphore for longer than a minute.
func (n *node) blockedGoroutines() string {
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/stacksz", n.monitor))
	if err != nil {
		return fmt.Sprintf("\n  its goroutines are unknown: %v", err)
	}
	defer answer.Body.Close()
	stacks, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Sprintf("\n  its goroutines are unknown: %v", err)
	}
	var b strings.Builder
	for one := range strings.SplitSeq(string(stacks), "\n\n") {
		head, _, _ := strings.Cut(one, "\n")
		if !strings.Contains(head, "minutes") || !strings.Contains(head, "sync.") || strings.Contains(head, "sync.Cond") {
			continue
		}
		lines := strings.Split(one, "\n")
		fmt.Fprintf(&b, "\n  waits: %s", strings.Join(lines[:min(len(lines), 18)], "\n    "))
	}
	return b.String()
}
