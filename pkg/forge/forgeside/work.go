package forgeside

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// Classify adds brain.ErrInfrastructure to errors that are no fault of the work: the
// forge does not answer, or it refuses the credentials. An expired token, a missing
// permission and a locked conversation are for people to repair, and then the same work
// succeeds. A limit of the forge ends at a time that is known: the work is given back
// until then, and blocks nobody.
func Classify(err error) error {
	limit := new(forge.RateLimit)
	switch {
	case errors.As(err, &limit) && !limit.Until.IsZero():
		return &brain.LaterError{Until: limit.Until, Err: fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)}
	case errors.Is(err, forge.ErrUnavailable), errors.Is(err, forge.ErrRateLimited), errors.Is(err, forge.ErrDenied):
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	return err
}

// An outage of the forge is taken for a long one after so many faults of one piece of work.
// The work then rests for longRest at a time. Faults that are counted pause an instance
// in the end, and people have to resume it: for an outage there is no need.
const (
	longAfter = 3
	longRest  = time.Minute
)

// outlast gives the work of a forge that is away for longer a time at which it is tried
// again.
func outlast(job agent.Job, err error) error {
	if job.Faults < longAfter || !errors.Is(err, forge.ErrUnavailable) || errors.As(err, new(*brain.LaterError)) {
		return err
	}
	return &brain.LaterError{Until: time.Now().Add(longRest), Err: err}
}

// EscalateToPeople returns the error of work that only people can make possible. The
// work is tried again after they have.
func EscalateToPeople(format string, args ...any) error {
	return &agent.ErrEscalate{Reason: fmt.Sprintf(format, args...), RequiresHuman: true}
}

// ToPeople escalates an error that is one of those that people have to mend. It returns another
// error, or none, as it is.
func ToPeople(err error, theirs ...error) error {
	if slices.ContainsFunc(theirs, func(e error) bool { return errors.Is(err, e) }) {
		return EscalateToPeople("%v", err)
	}
	return err
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
