package app

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// maxOfRole is how many instances the page of the agents shows of a role.
const maxOfRole = 20

// agentPage is the data of the page of the agents.
type agentPage struct {
	frame
	Roles  []roleRow
	Busy   int    // instances that an agent works on
	Open   int    // instances whose work nobody has taken
	Unread string // why costs are not shown; empty: they are
}

// roleRow is a role with the work that it has and that waits for it.
type roleRow struct {
	Name   string
	URL    string // the board of its work
	Agents int    // that hold work
	Free   int64  // that wait for work
	Cost   *costRow
	Queued int
	Oldest time.Time // of the work that nobody has taken
	Late   int
	Works  []boardRow // that agents hold, the longest first
	More   int
}

// makeAgents makes the page of the agents from all rows. Roles whose work waits while no agent holds any come first.
func makeAgents(all []*row, now time.Time) agentPage {
	p, roles := agentPage{}, map[string]*roleRow{}
	agents := map[[2]string]bool{}
	for _, r := range all {
		if r.Closed != "" || r.Role == "" || r.Kind != workflow.Work {
			continue
		}
		one := roles[r.Role]
		if one == nil {
			one = &roleRow{Name: r.Role, URL: filter{Role: r.Role}.url()}
			roles[r.Role] = one
		}
		if r.late(now) {
			one.Late++
		}
		switch {
		case r.Agent != "":
			p.Busy++
			if who := [2]string{r.Role, r.Agent}; !agents[who] {
				agents[who] = true
				one.Agents++
			}
			one.Works = append(one.Works, boardRow{row: *r, URL: instanceURL(r.ID), Look: r.look(), Late: r.late(now)})
		case !r.Paused && !r.Parked && !r.Waits:
			p.Open++
			if one.Queued++; one.Oldest.IsZero() || r.Entered.Before(one.Oldest) {
				one.Oldest = r.Entered
			}
		}
	}
	for _, one := range roles {
		slices.SortFunc(one.Works, func(a, b boardRow) int { return cmp.Or(a.Entered.Compare(b.Entered), strings.Compare(a.ID, b.ID)) })
		shown := min(len(one.Works), maxOfRole)
		one.Works, one.More = one.Works[:shown], len(one.Works)-shown
		p.Roles = append(p.Roles, *one)
	}
	idle := func(r roleRow) int {
		if r.Queued > 0 && r.Agents == 0 {
			return 0
		}
		return 1
	}
	slices.SortFunc(p.Roles, func(a, b roleRow) int {
		return cmp.Or(idle(a)-idle(b), b.Queued-a.Queued, strings.Compare(a.Name, b.Name))
	})
	return p
}

// wait adds the agents that wait for work. A role with such agents has a row.
func (p *agentPage) wait(roles []*pb.RoleWork) {
	for _, one := range roles {
		if i := slices.IndexFunc(p.Roles, func(r roleRow) bool { return r.Name == one.GetRole() }); i >= 0 {
			p.Roles[i].Free = one.GetIdle()
		} else if one.GetIdle() > 0 {
			p.Roles = append(p.Roles, roleRow{Name: one.GetRole(), URL: filter{Role: one.GetRole()}.url(), Free: one.GetIdle()})
		}
	}
}

// add adds what the steps of the roles cost.
func (p *agentPage) add(spent *pb.CostsReply) {
	for _, s := range spent.GetSums() {
		i := slices.IndexFunc(p.Roles, func(r roleRow) bool { return r.Name == s.GetRole() })
		if i < 0 {
			p.Roles = append(p.Roles, roleRow{Name: s.GetRole(), URL: filter{Role: s.GetRole()}.url()})
			i = len(p.Roles) - 1
		}
		cost := costRowOf(s, s.GetRole())
		p.Roles[i].Cost = &cost
	}
}

// agents shows the roles, the work that each does now, and the work that waits for it.
func (c *Console) agents(w http.ResponseWriter, r *http.Request, s *session) {
	snap := c.cache.snapshot()
	p := makeAgents(snap.rows, c.now())
	spent, err := c.spent.of("role 2").get(r.Context(), c.costsSince("role", 2))
	if err != nil {
		p.Unread = sentence(err)
	}
	p.add(spent)
	roles, err := c.roles.get(r.Context(), c.client.Agents)
	if err != nil {
		p.Unread = sentence(err)
	}
	p.wait(roles)
	p.frame = c.frame(s, "Agents", "agents")
	p.Seq, p.Waiting = snap.seq, snap.waits
	c.pages.show(w, http.StatusOK, "agents", p)
}
