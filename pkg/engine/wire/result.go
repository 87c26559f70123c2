package wire

import (
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Result encodes a result.
func Result(r instance.Result) *pb.Result {
	return &pb.Result{
		Status: string(r.Status), ConfidenceScore: r.ConfidenceScore, IssuesFound: r.IssuesFound, Next: r.Next,
		Summary: r.Summary, Questions: r.Questions, Answers: each(r.Answers, answer), Head: r.Head, Base: r.Base,
		Bundle: r.Bundle, Evidence: each(r.Evidence, evidence), FailureSignature: r.FailureSignature, Data: r.Data,
		Artifacts: each(r.Artifacts, artifact), Spend: spend(r.Spend), Sections: r.Sections, Unjudged: r.Unjudged,
		Forms: eachIn(r.Forms, wanted),
	}
}

// ToResult decodes a result; nil is the zero result.
func ToResult(p *pb.Result) instance.Result {
	return instance.Result{
		Status: instance.Status(name(p.GetStatus())), ConfidenceScore: p.GetConfidenceScore(), IssuesFound: p.GetIssuesFound(),
		Next: name(p.GetNext()), Summary: p.GetSummary(), Questions: p.GetQuestions(), Answers: each(p.GetAnswers(), toAnswer),
		Head: p.GetHead(), Base: p.GetBase(), Bundle: p.GetBundle(), Evidence: each(p.GetEvidence(), toEvidence),
		FailureSignature: p.GetFailureSignature(), Data: p.GetData(), Artifacts: each(p.GetArtifacts(), toArtifact),
		Spend: toSpend(p.GetSpend()), Sections: p.GetSections(), Unjudged: p.GetUnjudged(),
		Forms: eachIn(p.GetForms(), toWanted),
	}
}

// Issue encodes a report.
func Issue(i instance.Issue) *pb.Issue {
	return &pb.Issue{Repo: i.Repo, Number: i32(i.Number), Title: i.Title, Body: i.Body, Labels: i.Labels, Author: i.Author, Url: i.URL,
		Permission: i.Permission, AdmittedBy: i.AdmittedBy, Config: configuration(i.Config)}
}

// ToIssue decodes a report.
func ToIssue(p *pb.Issue) instance.Issue {
	return instance.Issue{Repo: name(p.GetRepo()), Number: int(p.GetNumber()), Title: p.GetTitle(), Body: p.GetBody(),
		Labels: p.GetLabels(), Author: p.GetAuthor(), URL: p.GetUrl(), Permission: p.GetPermission(), AdmittedBy: p.GetAdmittedBy(),
		Config: toConfiguration(p.GetConfig())}
}

func configuration(c *instance.Configuration) *pb.Configuration {
	if c == nil {
		return nil
	}
	return &pb.Configuration{File: c.File, Commit: c.Commit, Hash: c.Hash, Policy: c.Policy, Protect: c.Protect, Brains: c.Brains,
		Problem: c.Problem, Limits: each(c.Limits, limit), Days: each(c.Days, dayBudget), Labels: c.Labels, Notify: c.Notify}
}

func toConfiguration(p *pb.Configuration) *instance.Configuration {
	if p == nil {
		return nil
	}
	return &instance.Configuration{File: p.GetFile(), Commit: p.GetCommit(), Hash: p.GetHash(), Policy: p.GetPolicy(), Protect: p.GetProtect(),
		Brains: p.GetBrains(), Problem: p.GetProblem(), Limits: each(p.GetLimits(), toLimit),
		Days: each(p.GetDays(), toDayBudget), Labels: p.GetLabels(), Notify: p.GetNotify()}
}

func limit(l instance.Limit) *pb.Limit {
	return &pb.Limit{State: l.State, Role: l.Role, AtOnce: i32(l.AtOnce)}
}

func toLimit(p *pb.Limit) instance.Limit {
	return instance.Limit{State: p.GetState(), Role: p.GetRole(), AtOnce: int(p.GetAtOnce())}
}

func answer(a instance.QuestionAnswer) *pb.Answer {
	return &pb.Answer{Question: i32(a.Question), Text: a.Text, By: a.By}
}

func toAnswer(p *pb.Answer) instance.QuestionAnswer {
	return instance.QuestionAnswer{Question: int(p.GetQuestion()), Text: p.GetText(), By: p.GetBy()}
}

func evidence(e instance.Evidence) *pb.Evidence {
	return &pb.Evidence{Name: e.Name, Ok: e.OK, Commit: e.Commit, Command: e.Command, ExitCode: i32(e.ExitCode),
		Passed: i32(e.Passed), Failed: e.Failed, Output: e.Output, Millis: i32(e.Millis),
		Verdict: string(e.Verdict), Data: e.Data, Role: e.Role, Agent: e.Agent, Skipped: i32(e.Skipped),
		Judgement: judgement(e.Judgement), Demo: demo(e.Demo)}
}

func toEvidence(p *pb.Evidence) instance.Evidence {
	return instance.Evidence{Name: p.GetName(), OK: p.GetOk(), Commit: p.GetCommit(), Command: p.GetCommand(),
		ExitCode: int(p.GetExitCode()), Passed: int(p.GetPassed()), Failed: p.GetFailed(), Output: p.GetOutput(), Millis: int64(p.GetMillis()),
		Verdict: instance.Verdict(p.GetVerdict()), Data: p.GetData(), Role: p.GetRole(), Agent: p.GetAgent(), Skipped: int(p.GetSkipped()),
		Judgement: toJudgement(p.GetJudgement()), Demo: toDemo(p.GetDemo())}
}

func artifact(a instance.Artifact) *pb.Artifact {
	return &pb.Artifact{Name: a.Name, Object: a.Object, Size: u32(a.Size), Sha256: a.SHA256}
}

func toArtifact(p *pb.Artifact) instance.Artifact {
	return instance.Artifact{Name: p.GetName(), Object: p.GetObject(), Size: int64(p.GetSize()), SHA256: p.GetSha256()}
}

func spend(s instance.Cost) *pb.Spend {
	if s == (instance.Cost{}) {
		return nil
	}
	return &pb.Spend{TokensIn: u32(s.TokensIn), TokensOut: u32(s.TokensOut), Usd: s.USD, WallMs: u32(s.WallMS), Brain: s.Brain}
}

// ToCost decodes a cost.
func ToCost(p *pb.Spend) instance.Cost { return toSpend(p) }

func toSpend(p *pb.Spend) instance.Cost {
	return instance.Cost{TokensIn: int64(p.GetTokensIn()), TokensOut: int64(p.GetTokensOut()), USD: p.GetUsd(), WallMS: int64(p.GetWallMs()), Brain: p.GetBrain()}
}

func dayBudget(b instance.DayBudget) *pb.DayBudget {
	return &pb.DayBudget{Role: b.Role, Usd: b.USD, Tokens: uint64(max(b.Tokens, 0)), WallMs: uint64(max(b.WallMS, 0))}
}

func toDayBudget(p *pb.DayBudget) instance.DayBudget {
	return instance.DayBudget{Role: p.GetRole(), USD: p.GetUsd(), Tokens: int64(p.GetTokens()), WallMS: int64(p.GetWallMs())}
}
