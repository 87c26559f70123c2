package api

import (
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Matches reports whether the instance belongs to the list that q asks for, as of now.
func Matches(q *pb.ListRequest, in instance.Instance, now time.Time) bool {
	r := projection.RowOf(in)
	return matcher(q, now)(&r)
}

// matcher returns whether a row belongs to the list that q asks for, as of now.
func matcher(q *pb.ListRequest, now time.Time) func(*projection.Row) bool {
	text := strings.ToLower(q.GetText())
	return func(r *projection.Row) bool {
		switch {
		case q.GetWorkflow() != "" && q.GetWorkflow() != r.Workflow,
			q.GetState() != "" && q.GetState() != r.State,
			q.GetWorker() != "" && (q.GetWorker() != r.Worker || r.Closed != ""),
			q.GetRepo() != "" && !r.Of(q.GetRepo()),
			q.GetWaiting() && !r.Waiting,
			q.GetEscalated() && !r.Escalated,
			q.GetUnproven() && !r.Unproven,
			!mayBeClosed(q) && r.Closed != "",
			q.GetFailing() > r.Failures,
			q.GetStuck() && !r.Stuck(now),
			q.GetOverdue() && !r.Late(now),
			q.GetParent() != "" && q.GetParent() != r.Instance().Parent,
			q.GetLabel() != "" && !r.Labelled(q.GetLabel()),
			text != "" && !r.Has(text):
			return false
		}
		return true
	}
}

// mayBeClosed reports whether q asks for closed instances, too.
func mayBeClosed(q *pb.ListRequest) bool { return q.GetAll() || q.GetState() != "" }
