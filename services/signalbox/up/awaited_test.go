package up

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestAfterCtrlCUpNamesTheWorkThatItWaitsFor(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	live, ended := timestamppb.New(now.Add(time.Second)), timestamppb.New(now)
	for name, c := range map[string]struct {
		all  []*pb.Summary
		want string
	}{
		"nothing is open": {},
		"nothing is under way": {all: []*pb.Summary{
			{Instance: "acme/widgets/1", Owner: "developer", State: "implementing"},
			{Instance: "acme/widgets/2", Owner: "developer", State: "implementing", Agent: "d-1", Lease: ended}}},
		"two are": {all: []*pb.Summary{
			{Instance: "acme/widgets/1", Owner: "developer", State: "implementing", Agent: "d-1", Lease: live},
			{Instance: "acme/widgets/2", Owner: "pm", State: "received"},
			{Instance: "acme/widgets/3", Owner: "developer", Worker: "analyst", State: "implementing", Agent: "a-1", Lease: live}},
			want: "stopping: waits up to 30s for acme/widgets/1 (developer in implementing), acme/widgets/3 (analyst in implementing); " +
				"the rest goes on at the next start; Ctrl-C again ends it now\n"},
	} {
		if got := awaited(c.all, now, 30*time.Second); got != c.want {
			t.Errorf("%s: it prints %q, want %q", name, got, c.want)
		}
	}
}
