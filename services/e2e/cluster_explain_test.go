package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// fatalf ends the test with what each node says of the others and of every
// group of servers that has a leader to choose.
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
			fmt.Fprintf(&b, "\n  it cannot be asked: %v", err)
		}
		if n.process.ended() {
			b.WriteString("\n  it does not run")
		} else {
			b.WriteString(n.blockedGoroutines())
			b.WriteString(n.interest())
		}
		for _, group := range leaderless {
			fmt.Fprintf(&b, "\n  the last it said of %s:", group)
			about := slices.DeleteFunc(slices.Clone(n.process.output.snapshot()), func(line string) bool { return !strings.Contains(line, group) })
			b.WriteString("\n    " + strings.Join(about[max(len(about)-20, 0):], "\n    "))
		}
		t.Logf("%s:%s", n.name, b.String())
	}
	t.Logf("who hears whom:%s", k.connectivity())
}

// election is what a node says of a group.
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

// explain asks a node, and returns the groups that it knows no leader of.
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
		fmt.Fprintf(b, "\n  route to %s %s, solicited %t, pending %d, idle %s, round trip %s", r.Name, r.Account, r.Solicited, r.Pending, r.Idle, r.RTT)
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

// ask asks the node's monitor.
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
