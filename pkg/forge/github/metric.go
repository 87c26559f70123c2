package github

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/forge"
)

// metrics describes the metrics of a client.
type metrics struct{ requests, limit, left, wait, up *prometheus.Desc }

func newMetrics() metrics {
	return metrics{
		requests: prometheus.NewDesc("signalbox_forge_requests_total",
			"Requests to the forge by kind (read, write, query) and result: counted, unchanged, shared, limited, denied, error or silent.",
			[]string{"kind", "result"}, nil),
		limit: prometheus.NewDesc("signalbox_forge_limit",
			"Requests an hour that the forge permits, by token or installation, and by resource.", []string{"token", "resource"}, nil),
		left: prometheus.NewDesc("signalbox_forge_left",
			"Requests that are left in this hour, by token or installation, and by resource.", []string{"token", "resource"}, nil),
		wait: prometheus.NewDesc("signalbox_forge_limited_seconds",
			"How long nothing is sent to the forge because of a secondary limit; 0: there is none.", nil, nil),
		up: prometheus.NewDesc("signalbox_forge_up",
			"1 if the forge answered the newest request; 0 if not, by reason: denied, error or silent.", []string{"reason"}, nil),
	}
}

// Register registers the metrics of the client. The services of a process share one
// client; only the first registration has an effect.
func (c *Client) Register(r prometheus.Registerer) error {
	err := r.Register(c)
	if errors.As(err, new(prometheus.AlreadyRegisteredError)) {
		return nil
	}
	return err
}

// Fault returns what is wrong with the forge, by the answer to the newest request; nil: nothing
// is. Its text is for people.
func (c *Client) Fault() error {
	switch c.limiter.newestFault() {
	case faultDenied:
		return fmt.Errorf("%w: 401; give a token that is valid", forge.ErrUnauthenticated)
	case faultError:
		return fmt.Errorf("%w as it should: it has a fault of its own, a status of 5xx; nothing is lost, and all is tried again", forge.ErrUnavailable)
	case faultSilent:
		return forge.ErrUnavailable
	}
	return nil
}

// Describe implements prometheus.Collector.
func (c *Client) Describe(to chan<- *prometheus.Desc) {
	m := newMetrics()
	for _, d := range []*prometheus.Desc{m.requests, m.limit, m.left, m.wait, m.up} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Client) Collect(to chan<- prometheus.Metric) {
	m := newMetrics()
	for of, n := range c.limiter.sums() {
		to <- prometheus.MustNewConstMetric(m.requests, prometheus.CounterValue, float64(n), of.kind, of.result)
	}
	all, until := c.Limits()
	for _, l := range all {
		to <- prometheus.MustNewConstMetric(m.limit, prometheus.GaugeValue, float64(l.Limit), l.Who, l.Resource)
		to <- prometheus.MustNewConstMetric(m.left, prometheus.GaugeValue, float64(l.Left), l.Who, l.Resource)
	}
	to <- prometheus.MustNewConstMetric(m.wait, prometheus.GaugeValue, max(0, time.Until(until).Seconds()))
	fault, up := c.limiter.newestFault(), 1.0
	if fault != "" {
		up = 0
	}
	to <- prometheus.MustNewConstMetric(m.up, prometheus.GaugeValue, up, fault)
}

// nameOf returns the name of a holder for people. The tokens that a process has had one
// after the other are one.
func nameOf(who string) string {
	switch {
	case who == "":
		return "app"
	case strings.HasPrefix(who, "installation "):
		return who
	}
	return "token"
}
