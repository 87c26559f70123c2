package forgeside

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/instance"
)

// wait waits until a rate limit ends. The agent keeps its claim: all work of such a role
// needs the forge, so a retry before that fails too.
func wait(ctx context.Context, job agent.Job, err error) {
	limit := new(forge.RateLimit)
	if !errors.As(err, &limit) || time.Until(limit.Until) <= 0 {
		return
	}
	job.Progress("waiting for the forge: %v", limit)
	select {
	case <-time.After(time.Until(limit.Until)):
	case <-ctx.Done():
	}
}

// Classify adds brain.ErrInfrastructure to errors that are no fault of the work: the
// forge does not answer, or it refuses the credentials. An expired token, a missing
// permission and a locked conversation are for people to repair, and then the same work
// succeeds.
func Classify(err error) error {
	if errors.Is(err, forge.ErrUnavailable) || errors.Is(err, forge.ErrRateLimited) || errors.Is(err, forge.ErrDenied) {
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	return err
}

// EscalateToPeople returns the error of work that only people can make possible. The
// work is tried again after they have.
func EscalateToPeople(format string, args ...any) error {
	return &agent.ErrEscalate{Reason: fmt.Sprintf(format, args...), RequiresHuman: true}
}

// WithData returns the result with names and values, in turn, added to its data.
func WithData(r instance.Result, data ...string) instance.Result {
	r.Data = maps.Clone(r.Data)
	if r.Data == nil {
		r.Data = map[string]string{}
	}
	for pair := range slices.Chunk(data, 2) {
		r.Data[pair[0]] = pair[1]
	}
	return r
}

// BundleObjects returns the names of the objects that hold the job's bundles.
func BundleObjects(job agent.Job) []string {
	names := make([]string, len(job.Bundles))
	for i, b := range job.Bundles {
		names[i] = b.Object
	}
	return names
}
