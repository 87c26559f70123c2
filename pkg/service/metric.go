package service

import (
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// newMetrics returns a registry with the metrics of every process.
func newMetrics(service string) *prometheus.Registry {
	build := ReadBuild()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "signalbox_service_info",
		Help:        "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"service": service, "version": build.Version, "revision": build.Revision},
	})
	info.Set(1)
	r := prometheus.NewRegistry()
	r.MustRegister(
		info,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return r
}

// Refused counts the requests and logins that a process refuses to strangers. A process has
// one, and registers it once.
type Refused struct{ count *prometheus.CounterVec }

// NewRefused returns a counter.
func NewRefused() *Refused {
	return &Refused{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signalbox_requests_refused_total",
		Help: "Requests and logins refused to strangers, by port and reason.",
	}, []string{"port", "why"})}
}

// At returns the function that counts a refusal at a port by its reason, one of few texts.
func (r *Refused) At(port string) func(why string) {
	return func(why string) { r.count.WithLabelValues(port, why).Inc() }
}

func connectionMetrics(nc *nats.Conn) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "signalbox_nats_connected",
			Help: "1 while there is a connection to NATS, else 0.",
		}, func() float64 {
			if nc.IsConnected() {
				return 1
			}
			return 0
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "signalbox_nats_reconnects_total",
			Help: "Times the connection to NATS was lost and made again.",
		}, func() float64 { return float64(nc.Stats().Reconnects) }),
	}
}
