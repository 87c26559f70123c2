package wire

import (
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// judgement encodes a judgement; nil for none.
func judgement(j *verdict.Judgement) *pb.Judgement {
	if j == nil {
		return nil
	}
	return &pb.Judgement{
		Kind: string(j.Kind), Base: j.Base, Change: j.Change, Shown: j.Shown, Tests: each(j.Tests, shownTest), Unproven: j.Unproven,
		BaseFailures: testNames(j.BaseFailures), Fixed: testNames(j.Fixed), Broken: testNames(j.Broken), StillRed: testNames(j.StillRed),
		Gone: testNames(j.Gone), NewlySkipped: testNames(j.NewlySkipped), MadeFlaky: testNames(j.MadeFlaky), Flaky: each(j.Flaky, flake),
		Renamed: each(j.Renamed, renamed), Accepted: each(j.Accepted, acceptedTest), BothWays: bothWays(j.Ways),
		BaseCount: testCount(j.BaseCount), ChangeCount: testCount(j.ChangeCount), Findings: j.Findings, Question: j.Question,
		Waived: j.Waived, Rewritten: testNames(j.Rewritten),
	}
}

func toJudgement(p *pb.Judgement) *verdict.Judgement {
	if p == nil {
		return nil
	}
	return &verdict.Judgement{
		Kind: verdict.Kind(name(p.GetKind())), Base: p.GetBase(), Change: p.GetChange(), Shown: p.GetShown(), Tests: each(p.GetTests(), toShownTest),
		Unproven: p.GetUnproven(), BaseFailures: toTestNames(p.GetBaseFailures()), Fixed: toTestNames(p.GetFixed()),
		Broken: toTestNames(p.GetBroken()), StillRed: toTestNames(p.GetStillRed()), Gone: toTestNames(p.GetGone()),
		NewlySkipped: toTestNames(p.GetNewlySkipped()), MadeFlaky: toTestNames(p.GetMadeFlaky()), Flaky: each(p.GetFlaky(), toFlake),
		Renamed: each(p.GetRenamed(), toRenamed), Accepted: each(p.GetAccepted(), toAcceptedTest), Ways: toBothWays(p.GetBothWays()),
		BaseCount: toTestCount(p.GetBaseCount()), ChangeCount: toTestCount(p.GetChangeCount()), Findings: p.GetFindings(),
		Question: p.GetQuestion(), Waived: p.GetWaived(), Rewritten: toTestNames(p.GetRewritten()),
	}
}

// testNames encodes names; nil for none.
func testNames(n verdict.Names) *pb.TestNames {
	if len(n.Names) == 0 && n.More == 0 {
		return nil
	}
	return &pb.TestNames{Names: n.Names, More: i32(n.More)}
}

func toTestNames(p *pb.TestNames) verdict.Names {
	return verdict.Names{Names: p.GetNames(), More: int(p.GetMore())}
}

func shownTest(t verdict.ShownTest) *pb.ShownTest {
	return &pb.ShownTest{Name: t.Name, By: t.By, Base: t.Base, Change: t.Change, Cause: string(t.Cause), Output: t.Output}
}

func toShownTest(p *pb.ShownTest) verdict.ShownTest {
	return verdict.ShownTest{Name: p.GetName(), By: name(p.GetBy()), Base: p.GetBase(), Change: p.GetChange(),
		Cause: verdict.Cause(name(p.GetCause())), Output: p.GetOutput()}
}

func flake(f verdict.Flake) *pb.Flake { return &pb.Flake{Name: f.Name, Runs: each(f.Runs, testTally)} }

func toFlake(p *pb.Flake) verdict.Flake {
	return verdict.Flake{Name: p.GetName(), Runs: each(p.GetRuns(), toTestTally)}
}

func testTally(t verdict.Tally) *pb.TestTally {
	return &pb.TestTally{Commit: t.Commit, Passed: i32(t.Passed), Failed: i32(t.Failed)}
}

func toTestTally(p *pb.TestTally) verdict.Tally {
	return verdict.Tally{Commit: p.GetCommit(), Passed: int(p.GetPassed()), Failed: int(p.GetFailed())}
}

func renamed(r verdict.Rename) *pb.RenamedTest { return &pb.RenamedTest{From: r.From, To: r.To} }

func toRenamed(p *pb.RenamedTest) verdict.Rename {
	return verdict.Rename{From: p.GetFrom(), To: p.GetTo()}
}

func acceptedTest(a verdict.Accepted) *pb.AcceptedTest {
	return &pb.AcceptedTest{Name: a.Name, By: a.By}
}

func toAcceptedTest(p *pb.AcceptedTest) verdict.Accepted {
	return verdict.Accepted{Name: p.GetName(), By: p.GetBy()}
}

// bothWays encodes the comparison; nil for none.
func bothWays(w *verdict.BothWays) *pb.BothWays {
	if w == nil {
		return nil
	}
	return &pb.BothWays{Files: testNames(w.Files), Aside: w.Aside, Changed: w.Changed, Ok: w.OK}
}

func toBothWays(p *pb.BothWays) *verdict.BothWays {
	if p == nil {
		return nil
	}
	return &verdict.BothWays{Files: toTestNames(p.GetFiles()), Aside: p.GetAside(), Changed: p.GetChanged(), OK: p.GetOk()}
}

// testCount encodes a count; nil if nothing was counted.
func testCount(c verdict.Count) *pb.TestCount {
	if c == (verdict.Count{}) {
		return nil
	}
	return &pb.TestCount{Passed: i32(c.Passed), Failed: i32(c.Failed), Skipped: i32(c.Skipped)}
}

func toTestCount(p *pb.TestCount) verdict.Count {
	return verdict.Count{Passed: int(p.GetPassed()), Failed: int(p.GetFailed()), Skipped: int(p.GetSkipped())}
}
