package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/document/task"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// The queries of the task lifecycle, each an endpoint sb.api.NAME. A request is
// JSON, {"state": …} or {"taskId": …} where one is asked for; the answer is a
// list of tasks, or of transitions.
const (
	ByState              = "tasks_by_state"               // getTasksByState
	ExceedingTimeout     = "tasks_exceeding_timeout"      // getTasksExceedingTimeout
	UnderCTOReview       = "tasks_under_cto_review"       // getTasksUnderCtoReview
	WithMultipleFailures = "tasks_with_multiple_failures" // getTasksWithMultipleFailures
	StateHistory         = "task_state_history"           // getTaskStateHistory
)

// several is how many failures are several.
const several = 2

// queries answers from what the orchestrator holds in memory.
type queries struct {
	*client.Client
	workflow string
	entry    access.Entry
}

// request is what a query may ask with.
type request struct {
	State  string `json:"state"`
	TaskID string `json:"taskId"`
}

// serve answers until ctx ends.
func (q queries) serve(ctx context.Context, nc *nats.Conn) error {
	service, err := micro.AddService(nc, micro.Config{Name: "plan-manager", Version: "1.0.0", Description: "Queries about tasks."})
	if err != nil {
		return err
	}
	for name, ask := range map[string]func(context.Context, request) (any, error){
		ByState: func(ctx context.Context, r request) (any, error) {
			if r.State == "" {
				return nil, fmt.Errorf(`want {"state": "planning"} or another state`)
			}
			return q.tasks(ctx, &pb.ListRequest{State: r.State})
		},
		ExceedingTimeout: func(ctx context.Context, _ request) (any, error) {
			return q.tasks(ctx, &pb.ListRequest{Overdue: true})
		},
		UnderCTOReview: func(ctx context.Context, _ request) (any, error) {
			return q.tasks(ctx, &pb.ListRequest{State: "cto_intervention"})
		},
		WithMultipleFailures: func(ctx context.Context, _ request) (any, error) {
			return q.tasks(ctx, &pb.ListRequest{Failing: several})
		},
		StateHistory: func(ctx context.Context, r request) (any, error) {
			if r.TaskID == "" {
				return nil, fmt.Errorf(`want {"taskId": "plan/TASK-001"} or another task`)
			}
			commits, err := q.commits(ctx, r.TaskID)
			return task.Transitions(task.Events(r.TaskID, commits)), err
		},
	} {
		to, err := subject.API(name)
		if err == nil {
			to, err = q.entry.Subject(to)
		}
		if err != nil {
			return err
		}
		if err := service.AddEndpoint(name, q.answer(ctx, ask), micro.WithEndpointSubject(to)); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return service.Stop()
}

// patience is how long a query may look for its answer.
const patience = 5 * time.Second

func (q queries) answer(ctx context.Context, ask func(context.Context, request) (any, error)) micro.HandlerFunc {
	return func(m micro.Request) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		var r request
		if len(m.Data()) > 0 {
			if err := json.Unmarshal(m.Data(), &r); err != nil {
				_ = m.Error("invalid", err.Error(), nil) // the client has gone
				return
			}
		}
		found, err := ask(ctx, r)
		if err != nil {
			_ = m.Error("invalid", err.Error(), nil)
			return
		}
		_ = m.RespondJSON(found)
	}
}

// tasks are the tasks that a list holds.
func (q queries) tasks(ctx context.Context, list *pb.ListRequest) ([]task.State, error) {
	list.Workflow = q.workflow
	found, err := q.List(ctx, list)
	if err != nil {
		return nil, err
	}
	tasks := make([]task.State, len(found))
	for i, t := range found {
		commits, err := q.commits(ctx, t.GetInstance())
		if err != nil {
			return nil, err
		}
		tasks[i] = task.Of(t.GetInstance(), commits, time.Now())
	}
	return tasks, nil
}

func (q queries) commits(ctx context.Context, id string) ([]instance.Commit, error) {
	records, err := q.History(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	commits := make([]instance.Commit, len(records))
	for i, r := range records {
		commits[i] = instance.Commit{
			Seq: r.GetSeq(), ID: r.GetId(), At: r.GetTime().AsTime(), Actor: r.GetCommit().GetActor(), Events: wire.ToEvents(r.GetCommit()),
		}
	}
	return commits, nil
}
