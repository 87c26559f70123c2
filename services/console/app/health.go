package app

import (
	"net/http"
	"time"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// healthPage is the data of the page about the system itself.
type healthPage struct {
	frame
	Rows   []healthRow
	Failed int
	Warned int
}

// healthRow is a check as the page prints it.
type healthRow struct {
	Name, Detail, Advice string
	Look                 look
	Since                time.Time
	Instances            []choice
}

// makeHealth makes the page of the checks.
func makeHealth(checks []*pb.HealthCheck) (p healthPage) {
	for _, c := range checks {
		row := healthRow{Name: c.GetCheck(), Detail: c.GetDetail(), Advice: c.GetAdvice(), Look: look{"done", "✓", "ok"}}
		switch c.GetStatus() {
		case "ok":
		case "fail":
			p.Failed++
			row.Look = look{"failed", "✕", "fails"}
		default:
			p.Warned++
			row.Look = look{"people", "●", "look at it"}
		}
		if c.GetSince() != nil {
			row.Since = c.GetSince().AsTime()
		}
		for _, id := range c.GetInstances() {
			row.Instances = append(row.Instances, choice{Text: id, URL: instanceURL(id)})
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// health shows how the system is. While no orchestrator answers, that is the first check.
func (c *Console) health(w http.ResponseWriter, r *http.Request, s *session) {
	checks, err := c.checks.get(r.Context(), c.client.Health)
	p := makeHealth(checks)
	if err != nil {
		heard, _ := c.cache.stale()
		p.Failed++
		p.Rows = []healthRow{{Name: "orchestrator", Detail: sentence(err), Look: look{"failed", "✕", "fails"}, Since: heard,
			Advice: "look at the log of the orchestrator and at NATS: signalbox doctor, where they run, looks at both"}}
	}
	p.frame = c.frame(s, "Health", "health")
	p.Seq, p.Waiting = c.cache.newest(""), c.cache.waiting()
	c.pages.show(w, http.StatusOK, "health", p)
}
