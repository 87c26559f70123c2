package app

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// metrics counts the commits that this orchestrator appended. Their sum over all orchestrators is the
// system's, because each commit is appended by one.
type metrics struct {
	steps     *prometheus.CounterVec
	ended     *prometheus.CounterVec
	stay      *prometheus.HistogramVec
	wait      *prometheus.HistogramVec
	conflicts prometheus.Counter
	requests  *prometheus.HistogramVec
	replay    prometheus.Gauge
	pending   *prometheus.GaugeVec
	redeliver *prometheus.GaugeVec
	lapsed    *prometheus.CounterVec
	dead      *prometheus.CounterVec
	timeouts  *prometheus.CounterVec
	refused   *prometheus.CounterVec
	forbidden *prometheus.CounterVec
	armed     prometheus.Counter
	late      prometheus.Histogram
	active    atomic.Bool // this orchestrator answers
	waiting   *prometheus.GaugeVec
	foreign   prometheus.Counter
	exchanged prometheus.Counter
	settings  *prometheus.CounterVec
	usd       *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	used      *prometheus.GaugeVec
	storage   *prometheus.GaugeVec
	claimed   *claimed
}

// newMetrics returns the metrics of an orchestrator. connected reports whether it is connected to NATS.
func newMetrics(r prometheus.Registerer, connected func() bool) *metrics {
	long := prometheus.ExponentialBuckets(0.01, 4, 12) // 10 ms to 11 h
	short := prometheus.ExponentialBuckets(0.0002, 2.5, 14)
	m := &metrics{
		steps: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_steps_total",
			Help: "Results taken, by workflow, state and status."}, []string{"workflow", "state", "result"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_ended_total",
			Help: "Instances that ended with a change, by workflow, final state and proof: shown or unproven."}, []string{"workflow", "state", "proof"}),
		stay: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "signalbox_state_seconds",
			Help: "Time an instance spent in a state it left.", Buckets: long}, []string{"workflow", "state"}),
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "signalbox_claim_wait_seconds",
			Help: "Time from the entry into a state to its first claim.", Buckets: long}, []string{"workflow", "state"}),
		conflicts: prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_conflicts_total",
			Help: "Appends that another writer forestalled; each was decided again."}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "signalbox_request_seconds",
			Help: "Time to answer a request, by command and refusal code.", Buckets: short}, []string{"command", "code"}),
		replay: prometheus.NewGauge(prometheus.GaugeOpts{Name: "signalbox_replay_seconds", Help: "Time the replay of the log took at start."}),
		pending: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_work_pending", Help: "Work not yet delivered, by role."},
			[]string{"role"}),
		redeliver: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_work_redelivered",
			Help: "Work delivered more than once and not yet acknowledged, by role."}, []string{"role"}),
		lapsed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_work_lapsed_total",
			Help: "Work that was given to an agent directly and went to the queue, by role: its lease ran out, or it was given back."},
			[]string{"role"}),
		dead: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_dead_letters_total", Help: "Work given up on, by role."},
			[]string{"role"}),
		timeouts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_timeouts_total",
			Help: "Deadlines of stays that passed, by workflow, state and level."}, []string{"workflow", "state", "level"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_statements_refused_total",
			Help: "Evidence, variables, answers and code set aside because the lifecycle does not take them from the role, by workflow, role and kind."},
			[]string{"workflow", "role", "kind"}),
		armed: prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_timers_armed_total", Help: "Timers stored."}),
		late: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "signalbox_timer_late_seconds",
			Help: "Time from when a timer was due to when it was recorded.", Buckets: long}),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_agents_waiting",
			Help: "Agents that wait at the queue of a role, by role."}, []string{"role"}),
		forbidden: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_requests_forbidden_total",
			Help: "Requests that the account of their sender may not make, by kind of party and command."}, []string{"party", "command"}),
		foreign: prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_foreign_messages_total",
			Help: "Messages read in the log that are no commits, and were set aside."}),
		exchanged: prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_false_definitions_total",
			Help: "Definitions read that are kept under a false hash, and were refused."}),
		settings: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_stream_settings_changed_total",
			Help: "Changes of the settings of a stream by others that it must not have, by stream."}, []string{"stream"}),
		usd: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_spend_usd_total",
			Help: "Money that steps reported as their cost, in dollars, by workflow and role."}, []string{"workflow", "role"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_spend_tokens_total",
			Help: "Tokens that steps reported as their cost, in and out, by workflow and role."}, []string{"workflow", "role"}),
		used: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_budget_used",
			Help: "Part of a day's budget that is spent, by budget; 1 is all of it."}, []string{"budget"}),
		storage: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_storage_bytes",
			Help: "Storage of JetStream in bytes, by kind: used, of it by the log, or limit of the account, 0 if it has none."}, []string{"kind"}),
		claimed: newClaimed(),
	}
	r.MustRegister(m.steps, m.ended, m.stay, m.wait, m.conflicts, m.requests, m.replay, m.pending, m.redeliver, m.lapsed, m.dead,
		m.timeouts, m.refused, m.armed, m.late, m.waiting, m.foreign, m.exchanged, m.settings, m.forbidden, m.usd, m.tokens, m.used, m.storage, m.claimed.gauge,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_on_duty",
			Help: "1 while this orchestrator answers, 0 while it stands by or is not connected to NATS."}, func() float64 {
			if m.active.Load() && connected() {
				return 1
			}
			return 0
		}))
	return m
}

// expect has each counter and gauge whose labels are known be there with 0, so that an alert sees
// the first event as well. Definitions that come later begin with their first event.
func (m *metrics) expect(defs []*workflow.Definition, roles []string) {
	for _, role := range roles {
		for _, c := range []*prometheus.CounterVec{m.lapsed, m.dead} {
			c.WithLabelValues(role)
		}
		for _, g := range []*prometheus.GaugeVec{m.pending, m.redeliver, m.waiting, m.claimed.gauge} {
			g.WithLabelValues(role)
		}
	}
	for _, stream := range store.Watched() {
		m.settings.WithLabelValues(stream)
	}
	for _, d := range defs {
		for _, role := range d.Roles() {
			m.usd.WithLabelValues(d.Name, role)
			m.tokens.WithLabelValues(d.Name, role)
			for _, kind := range instance.RefusedKinds() {
				m.refused.WithLabelValues(d.Name, role, kind)
			}
		}
		for _, s := range d.States {
			m.expectState(d.Name, s)
		}
	}
}

func (m *metrics) expectState(of string, s workflow.State) {
	if s.Owner != "" {
		for _, status := range instance.Statuses() {
			m.steps.WithLabelValues(of, s.Name, string(status))
		}
	}
	if s.Kind == workflow.Final {
		for _, proof := range []string{"shown", "unproven"} {
			m.ended.WithLabelValues(of, s.Name, proof)
		}
	}
	if s.Timeout > 0 {
		for _, level := range []workflow.Level{workflow.Warning, workflow.Alert, workflow.Escalation} {
			m.timeouts.WithLabelValues(of, s.Name, string(level))
		}
	}
}

// committed counts one commit that this orchestrator appended.
func (m *metrics) committed(before, after instance.Instance, c instance.Commit) {
	m.claimed.note(after)
	state := before.State
	for i, e := range c.Events {
		switch e := e.(type) {
		case instance.Opened:
			state = e.State
		case instance.Dispatched:
			if i == 0 && before.Direct {
				m.lapsed.WithLabelValues(e.Owner).Inc()
			}
		case instance.Claimed:
			switch {
			case e.Direct:
				m.wait.WithLabelValues(after.Workflow, state).Observe(0)
			case before.Claim == nil:
				m.wait.WithLabelValues(before.Workflow, before.State).Observe(c.At.Sub(before.EnteredAt).Seconds())
			}
		case instance.Spent:
			if before.Claim != nil {
				m.spend(before.Workflow, before.Claim.Role, e.Spend)
			}
		case instance.Reported:
			m.spend(before.Workflow, e.Role, e.Result.Spend)
			m.steps.WithLabelValues(before.Workflow, e.State, string(e.Result.Status)).Inc()
		case instance.Moved:
			state = e.To
			m.stay.WithLabelValues(before.Workflow, e.From).Observe(c.At.Sub(before.EnteredAt).Seconds())
			if proof := after.Shown(); after.Closed == instance.Ended && e.To == after.State && (proof.Shown || proof.Unproven()) {
				m.ended.WithLabelValues(after.Workflow, e.To, map[bool]string{true: "shown", false: "unproven"}[proof.Shown]).Inc()
			}
		case instance.TimedOut:
			m.timeouts.WithLabelValues(before.Workflow, e.State, string(e.Level)).Inc()
		case instance.StatementRefused:
			m.refused.WithLabelValues(after.Workflow, e.Role, e.What).Inc()
		}
	}
}

// spend counts what a step cost.
func (m *metrics) spend(workflow, role string, c instance.Cost) {
	if c.USD > 0 {
		m.usd.WithLabelValues(workflow, role).Add(c.USD)
	}
	if tokens := c.TokensIn + c.TokensOut; tokens > 0 {
		m.tokens.WithLabelValues(workflow, role).Add(float64(tokens))
	}
}

// setActive records whether this orchestrator is active or stands by.
func (m *metrics) setActive(active bool) { m.active.Store(active) }

// forbade counts a request that the account of its sender may not make.
func (m *metrics) forbade(kind, command string) { m.forbidden.WithLabelValues(kind, command).Inc() }

func (m *metrics) answered(command, code string, took time.Duration) {
	m.requests.WithLabelValues(command, code).Observe(took.Seconds())
}
