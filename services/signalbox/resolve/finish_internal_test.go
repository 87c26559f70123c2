package resolve

import (
	"testing"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestOnlyABranchOfItsOwnIsHandedIn(t *testing.T) {
	ended := func(data, vars map[string]string) *pb.Instance {
		return &pb.Instance{Closed: "ended", LastResult: &pb.Result{Data: data}, Vars: vars}
	}
	open := func(in *pb.Instance) *pb.Instance { in.Closed = ""; return in }
	for name, c := range map[string]struct {
		in           *pb.Instance
		branch, pull string
	}{
		"nothing":                          {ended(nil, nil), "", ""},
		"the base, before there was work":  {ended(map[string]string{"branch": "main"}, nil), "", ""},
		"a branch, without a pull request": {ended(map[string]string{"branch": "signalbox/task-1"}, map[string]string{"prNumber": "0"}), "signalbox/task-1", ""},
		"a branch of work that goes on":    {open(ended(map[string]string{"branch": "signalbox/task-1"}, nil)), "", ""},
		"a pull request of work that goes on": {open(ended(nil, map[string]string{"branch": "signalbox/issue-1", "prNumber": "2"})),
			"signalbox/issue-1", "2"},
	} {
		if branch, pull := handedIn(c.in, "main"); branch != c.branch || pull != c.pull {
			t.Errorf("%s: %q, %q, want %q, %q", name, branch, pull, c.branch, c.pull)
		}
	}
}
