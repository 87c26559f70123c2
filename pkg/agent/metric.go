package agent

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// NewMetrics returns an observer that counts and times a role's work.
func NewMetrics(r prometheus.Registerer, role string) Observer {
	r = prometheus.WrapRegistererWith(prometheus.Labels{"role": role}, r)
	m := &metrics{
		busy: prometheus.NewGauge(prometheus.GaugeOpts{Name: "signalbox_agent_busy", Help: "Pieces of work under way."}),
		work: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "signalbox_agent_work_seconds", Help: "Time from claim to report, by state and how it ended.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 12)}, []string{"state", "result"}),
	}
	r.MustRegister(m.busy, m.work)
	return m
}

type metrics struct {
	busy prometheus.Gauge
	work *prometheus.HistogramVec
}

func (m *metrics) Started(Job)            { m.busy.Inc() }
func (m *metrics) Progressed(Job, string) {}

func (m *metrics) Ended(job Job, r instance.Result, err error, took time.Duration) {
	m.busy.Dec()
	how := string(r.Status)
	switch {
	case how != "":
	case errors.As(err, new(*ErrAsk)):
		how = "asked"
	case errors.As(err, new(*ErrEscalate)):
		how = "escalated"
	case errors.Is(err, errLost):
		how = "lost"
	default:
		how = "given_back"
	}
	m.work.WithLabelValues(job.State, how).Observe(took.Seconds())
}

// Observers calls each observer that is not nil.
type Observers []Observer

// Started implements Observer.
func (os Observers) Started(job Job) {
	for _, o := range os {
		if o != nil {
			o.Started(job)
		}
	}
}

// Progressed implements Observer.
func (os Observers) Progressed(job Job, text string) {
	for _, o := range os {
		if o != nil {
			o.Progressed(job, text)
		}
	}
}

// Ended implements Observer.
func (os Observers) Ended(job Job, r instance.Result, err error, took time.Duration) {
	for _, o := range os {
		if o != nil {
			o.Ended(job, r, err, took)
		}
	}
}
