package api

import (
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Wanted reports whether a list that is asked for with q has the instance, as of now.
func Wanted(q *pb.ListRequest, in instance.Instance, now time.Time) bool {
	_, escalated := in.Escalation()
	escalated = escalated && in.Closed == ""
	switch {
	case q.GetWorkflow() != "" && q.GetWorkflow() != in.Workflow,
		q.GetState() != "" && q.GetState() != in.State,
		q.GetWorker() != "" && (q.GetWorker() != in.Worker() || in.Closed != ""),
		q.GetParent() != "" && q.GetParent() != in.Parent,
		q.GetWaiting() && !in.WaitsForPeople(),
		q.GetEscalated() && !escalated,
		q.GetStuck() && !stuck(in, now),
		q.GetOverdue() && !overdue(in, now),
		int(q.GetFailing()) > failing(in),
		!q.GetAll() && q.GetState() == "" && in.Closed != "":
		return false
	}
	return true
}

// patient is how long work may wait to be taken before it counts as stuck.
const patient = time.Minute

// stuck: it is longer in its state than it should, or somebody should work on it,
// and nobody does: it is paused, its agent fell silent, or nobody takes it.
func stuck(in instance.Instance, now time.Time) bool {
	switch {
	case in.Closed != "":
		return false
	case in.Paused, overdue(in, now):
		return true
	case in.Worker() == "", in.Parked != nil, in.Claim.Live(now):
		return false
	}
	return in.Claim != nil || now.Sub(in.UpdatedAt) > patient
}

// overdue: it is longer in its state than the state's timeout.
func overdue(in instance.Instance, now time.Time) bool {
	return in.Closed == "" && in.Timeout > 0 && now.Sub(in.EnteredAt) >= in.Timeout
}

// failing is the most failures in a row, in any one state.
func failing(in instance.Instance) int {
	most := 0
	for _, f := range in.Failures {
		most = max(most, f.Count)
	}
	return most
}
