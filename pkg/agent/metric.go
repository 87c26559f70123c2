package agent

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// NewMetrics returns an observer that counts and times a role's work.
func NewMetrics(r prometheus.Registerer, role string) Observer {
	r = prometheus.WrapRegistererWith(prometheus.Labels{"role": role}, r)
	m := &metrics{
		signs: map[string]time.Time{},
		busy:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "signalbox_agent_busy", Help: "Pieces of work under way."}),
		work: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "signalbox_agent_work_seconds", Help: "Time from claim to report, by state and how it ended.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 12)}, []string{"state", "result"}),
	}
	r.MustRegister(m.busy, m.work, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_agent_quiet_seconds",
		Help: "How long the quietest work under way has shown no sign: no line of its brain, and no next step."}, m.quiet))
	return m
}

type metrics struct {
	busy prometheus.Gauge
	work *prometheus.HistogramVec

	mu    sync.Mutex
	signs map[string]time.Time // the newest sign of the work under way, by instance
}

func (m *metrics) Started(job Job) {
	m.busy.Inc()
	m.Progressed(job, "")
}

func (m *metrics) Progressed(job Job, _ string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.signs[job.Instance] = time.Now()
}

// quiet returns for how many seconds the quietest work has shown no sign.
func (m *metrics) quiet() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	longest := time.Duration(0)
	for _, at := range m.signs {
		longest = max(longest, time.Since(at))
	}
	return longest.Seconds()
}

func (m *metrics) Ended(job Job, r instance.Result, err error, took time.Duration) {
	m.busy.Dec()
	m.mu.Lock()
	delete(m.signs, job.Instance)
	m.mu.Unlock()
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
