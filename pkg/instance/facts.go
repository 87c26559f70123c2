package instance

import "github.com/signalbox/signalbox/pkg/workflow"

// facts is what guards may read of the instance.
func (d *decision) facts() workflow.Facts {
	in := d.in
	f := workflow.Facts{
		Evidence: make(map[string]workflow.EvidenceFacts, len(in.Evidence)),
		Instance: workflow.InstanceFacts{
			State: in.State, Iteration: int64(in.Iteration), Returns: int64(in.Returns),
			Visits: make(map[string]int64, len(in.Visits)), Previous: in.Previous, Loop: in.Loop,
			Repeats: int64(in.Failure.Repeats), Head: in.Head, OpenQuestions: int64(len(in.OpenQuestions())),
		},
		Issue: workflow.IssueFacts{Title: in.Issue.Title, Body: in.Issue.Body, Labels: in.Issue.Labels, Author: in.Issue.Author},
		Spend: workflow.SpendFacts{Tokens: in.Spend.TokensIn + in.Spend.TokensOut, USD: in.Spend.USD, WallMS: in.Spend.WallMS},
	}
	for _, e := range in.Evidence {
		f.Evidence[e.Name] = workflow.EvidenceFacts{OK: e.OK, Commit: e.Commit, Failed: e.Failed}
	}
	for _, v := range in.Visits {
		f.Instance.Visits[v.State] = int64(v.Count)
	}
	if in.Last != nil {
		f.Result = resultFacts(*in.Last)
	}
	return f
}

func resultFacts(r Result) workflow.ResultFacts {
	return workflow.ResultFacts{
		Status: string(r.Status), ConfidenceScore: r.ConfidenceScore, IssuesFound: r.IssuesFound,
		Questions: r.Questions, Next: r.Next, FailureSignature: r.FailureSignature, Data: r.Data,
	}
}
