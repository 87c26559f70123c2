package api

import (
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Matches reports whether the instance belongs to the list that q asks for, as of now.
func Matches(q *pb.ListRequest, in instance.Instance, now time.Time) bool {
	_, escalated := in.Escalation()
	escalated = escalated && in.Closed == ""
	switch {
	case q.GetWorkflow() != "" && q.GetWorkflow() != in.Workflow,
		q.GetState() != "" && q.GetState() != in.State,
		q.GetWorker() != "" && (q.GetWorker() != in.Worker() || in.Closed != ""),
		q.GetParent() != "" && q.GetParent() != in.Parent,
		q.GetRepo() != "" && q.GetRepo() != in.Issue.Repo && !strings.HasPrefix(in.ID, q.GetRepo()+"/"),
		q.GetWaiting() && !in.WaitsForPeople(),
		q.GetEscalated() && !escalated,
		q.GetStuck() && !stuck(in, now),
		q.GetOverdue() && !overdue(in, now),
		int(q.GetFailing()) > failing(in),
		q.GetUnproven() && !unproven(in),
		!q.GetAll() && q.GetState() == "" && in.Closed != "":
		return false
	}
	return true
}

// unclaimedTimeout is how long work may wait for a claim before it counts as stuck.
const unclaimedTimeout = time.Minute

// stuck reports whether an instance is paused, is in its state for longer than the state's timeout, or
// has work that no agent has. Its claim has expired, or it waits for one for too long.
func stuck(in instance.Instance, now time.Time) bool {
	switch {
	case in.Closed != "":
		return false
	case in.Paused, overdue(in, now):
		return true
	case in.Worker() == "", in.Parked != nil, in.Claim.Live(now):
		return false
	}
	return in.Claim != nil || now.Sub(in.UpdatedAt) > unclaimedTimeout
}

// overdue reports whether an instance is in its state for longer than the state's timeout.
func overdue(in instance.Instance, now time.Time) bool {
	return in.Closed == "" && in.Timeout > 0 && now.Sub(in.DeadlinesSince()) >= in.Timeout
}

// failing returns the highest number of failures in a row in one state.
func failing(in instance.Instance) int {
	most := 0
	for _, f := range in.Failures {
		most = max(most, f.Count)
	}
	return most
}

// unproven reports whether the tests were compared with those of the base, and show nothing.
func unproven(in instance.Instance) bool {
	_, _, reason := in.Shown().Outline()
	return reason != ""
}
