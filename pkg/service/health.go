package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"
)

// Health reports whether a service is ready: all its checks pass, and it is neither
// starting nor draining.
type Health struct {
	mu     sync.Mutex
	phase  error // not nil: not ready, whatever the checks return
	checks map[string]func(context.Context) error
	warns  map[string]func(context.Context) error
}

var (
	errConnecting = errors.New("connecting to NATS")
	errStarting   = errors.New("setting up")
	errDraining   = errors.New("draining: no new work is taken")
)

// natsCondition is the name of the condition that the service is connected to NATS.
const natsCondition = "nats"

// Check adds a condition of readiness. f returns nil if it holds. It must return soon,
// and is called from several goroutines at once.
func (h *Health) Check(name string, f func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checks == nil {
		h.checks = map[string]func(context.Context) error{}
	}
	h.checks[name] = f
}

// Warn adds a condition whose failure does not make the service unready: another part of the
// system has the fault, and a restart of this one would not end it. f is called as in Check.
func (h *Health) Warn(name string, f func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.warns == nil {
		h.warns = map[string]func(context.Context) error{}
	}
	h.warns[name] = f
}

func (h *Health) enter(phase error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase = phase
}

// Readiness is the response of /readyz.
type Readiness struct {
	Ready   bool              `json:"ready"`
	Reasons map[string]string `json:"reasons,omitempty"` // by check, why it does not hold
	// Warnings are faults elsewhere that stop work, by condition. The service is ready all the same.
	Warnings map[string]string `json:"warnings,omitempty"`
}

// conditionLimit bounds a condition that waits for a server: Docker and the chart wait 5 s for the answer.
const conditionLimit = 2 * time.Second

// answerLimit bounds a condition that ignores its context: nats.go locks its state while it looks up a name.
const answerLimit = conditionLimit + 500*time.Millisecond

// Ready runs all checks, each for conditionLimit at most.
func (h *Health) Ready(ctx context.Context) Readiness {
	h.mu.Lock()
	reasons := map[string]string{}
	switch h.phase {
	case nil:
	case errConnecting:
		reasons[natsCondition] = h.phase.Error()
	default:
		reasons["service"] = h.phase.Error()
	}
	checks, warns := maps.Clone(h.checks), maps.Clone(h.warns)
	h.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, conditionLimit)
	defer cancel()
	warnings := map[string]string{}
	var both sync.WaitGroup
	both.Go(func() { failures(ctx, checks, reasons) })
	both.Go(func() { failures(ctx, warns, warnings) })
	both.Wait()
	return Readiness{Ready: len(reasons) == 0, Reasons: reasons, Warnings: warnings}
}

// failures adds the conditions that fail to all, with their errors. It returns after answerLimit at the latest.
func failures(ctx context.Context, conditions map[string]func(context.Context) error, all map[string]string) {
	var mu sync.Mutex
	var each sync.WaitGroup
	for name, holds := range conditions {
		each.Go(func() {
			if err := within(answerLimit, func() error { return holds(ctx) }); err != nil {
				mu.Lock()
				defer mu.Unlock()
				all[name] = err.Error()
			}
		})
	}
	each.Wait()
}

// within returns the error of f, or one after the limit, while f goes on.
func within(limit time.Duration, f func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
		return fmt.Errorf("no answer in %v", limit)
	}
}

// ServeHTTP responds with 200 if ready, else 503, and a Readiness as JSON.
func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	readiness := h.Ready(r.Context())
	status := http.StatusOK
	if !readiness.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, readiness)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that left
}
