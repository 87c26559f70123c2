package service

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// healthcheckTimeout is less than the time that an image gives its check: the reason is printed before.
const healthcheckTimeout = 4 * time.Second

// healthError is the answer of --healthcheck for a service that is not ready.
type healthError struct {
	code int
	text string
}

func (e *healthError) Error() string { return e.text }

// healthcheck returns nil if the service at --http is ready, else a healthError.
func (f Flags) healthcheck(ctx context.Context) error {
	host, port, err := net.SplitHostPort(f.HTTP)
	if err != nil || port == "0" {
		return Usagef("--healthcheck needs the --http HOST:PORT of the running service, with its port; it is %q", f.HTTP)
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, healthcheckTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.httpScheme()+"://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	// It asks its own process, which has the certificate of another name.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return &healthError{ExitFailed, fmt.Sprintf("not running: nothing listens at %s", f.HTTP)}
	}
	if err != nil {
		return &healthError{ExitNotReady, fmt.Sprintf("not ready: it runs, and does not answer: %v", err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	var r Readiness
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		return &healthError{ExitNotReady, "not ready: " + resp.Status}
	}
	if reason := r.Reasons[natsCondition]; reason != "" {
		return &healthError{ExitCutOff, fmt.Sprintf("cut off from NATS: it runs; %s", reason)}
	}
	return &healthError{ExitNotReady, fmt.Sprintf("not ready: %v", r.Reasons)}
}
