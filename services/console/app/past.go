package app

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// slider is the commit that the page of an instance shows, among all of its commits.
type slider struct {
	First, Last, Seq uint64
	At               time.Time
	Earlier, Later   string // addresses of the page after the neighbours; empty: there is none
	Past             bool   // it is not the newest
	Decision         *view.Decision
}

// makeSlider returns the slider at the newest commit up to seq; 0: at the newest. The history is
// not empty.
func makeSlider(address string, records []*pb.Record, seq uint64) slider {
	at := len(records) - 1
	if seq > 0 {
		i, found := slices.BinarySearchFunc(records, seq, func(r *pb.Record, seq uint64) int { return int(int64(r.GetSeq()) - int64(seq)) })
		if !found {
			i--
		}
		at = max(i, 0)
	}
	link := func(i int) string {
		if i < 0 || i >= len(records) {
			return ""
		}
		return address + "?" + url.Values{"seq": {fmt.Sprint(records[i].GetSeq())}}.Encode()
	}
	return slider{
		First: records[0].GetSeq(), Last: records[len(records)-1].GetSeq(), Seq: records[at].GetSeq(), At: records[at].GetTime().AsTime(),
		Earlier: link(at - 1), Later: link(at + 1), Past: at < len(records)-1,
	}
}

// before returns the instance before the commit of the slider, and the commit.
func (s slider) before(id string, records []*pb.Record) (instance.Instance, instance.Commit) {
	in := instance.Instance{ID: id}
	for _, c := range view.Commits(records) {
		if c.Seq == s.Seq {
			return in, c
		}
		in = instance.Evolve(in, c)
	}
	return in, instance.Commit{}
}

// then returns the instance as it was after the commit of the slider, and its records up to there.
func (s slider) then(id string, records []*pb.Record) (view.Instance, []*pb.Record) {
	end, _ := slices.BinarySearchFunc(records, s.Seq+1, func(r *pb.Record, seq uint64) int { return int(int64(r.GetSeq()) - int64(seq)) })
	before, commit := s.before(id, records)
	return view.Of(wire.FullView(instance.Evolve(before, commit))), records[:end]
}

// explain adds why the commit was decided so. def may be nil.
func (s *slider) explain(env *term.Env, def *workflow.Definition, id string, records []*pb.Record) {
	if def == nil {
		return
	}
	before, commit := s.before(id, records)
	d := view.Decided(env, def, before, commit)
	s.Decision = &d
}
