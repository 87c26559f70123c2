package wire

import (
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// demo encodes a demonstration; nil for none.
func demo(d *instance.Demo) *pb.Demo {
	if d == nil {
		return nil
	}
	return &pb.Demo{Command: d.Command, Page: d.Page, Base: demoRun(d.Base), Change: demoRun(d.Change)}
}

func toDemo(p *pb.Demo) *instance.Demo {
	if p == nil {
		return nil
	}
	return &instance.Demo{Command: p.GetCommand(), Page: p.GetPage(), Base: toDemoRun(p.GetBase()), Change: toDemoRun(p.GetChange())}
}

func demoRun(r instance.DemoRun) *pb.DemoRun {
	return &pb.DemoRun{Commit: r.Commit, Ended: r.Ended, Output: r.Output, NoPicture: r.NoPicture, Whole: left(r.Whole), Picture: left(r.Picture)}
}

func toDemoRun(p *pb.DemoRun) instance.DemoRun {
	return instance.DemoRun{Commit: p.GetCommit(), Ended: p.GetEnded(), Output: p.GetOutput(), NoPicture: p.GetNoPicture(),
		Whole: toLeft(p.GetWhole()), Picture: toLeft(p.GetPicture())}
}

// left encodes an artifact that need not be there; nil for none.
func left(a *instance.Artifact) *pb.Artifact {
	if a == nil {
		return nil
	}
	return artifact(*a)
}

func toLeft(p *pb.Artifact) *instance.Artifact {
	if p == nil {
		return nil
	}
	a := toArtifact(p)
	return &a
}
