package wire

import "github.com/signalbox/signalbox/pkg/instance"

// event writes those that most of a log consists of, and leaves the others, and
// what they seldom have, to protobuf.
func (p *pen) event(e instance.Event) {
	switch e := e.(type) {
	case instance.Opened:
		if len(e.Vars) > 0 || len(e.Bundles) > 0 {
			break
		}
		at := p.open(1)
		p.opened(e)
		p.close(at)
		return
	case instance.Claimed:
		at := p.open(2)
		p.claimed(e)
		p.close(at)
		return
	case instance.LeaseExtended:
		at := p.open(3)
		p.number(1, uint64(u32(e.Token)))
		p.time(2, e.Lease)
		p.close(at)
		return
	case instance.Reported:
		at := p.open(5)
		p.reported(e)
		p.close(at)
		return
	case instance.Moved:
		at := p.open(9)
		p.moved(e)
		p.close(at)
		return
	case instance.Dispatched:
		at := p.open(10)
		p.text(1, e.State)
		p.text(2, e.Owner)
		p.text(3, e.Reason)
		p.int(4, i32(e.Question))
		p.close(at)
		return
	}
	p.message(event(e))
}

func (p *pen) opened(e instance.Opened) {
	p.text(1, e.Workflow)
	p.text(2, e.Definition)
	p.issue(3, e.Issue)
	p.text(4, e.Base)
	p.text(5, e.Bundle)
	p.text(6, e.State)
	p.text(7, e.Owner)
	p.text(8, string(e.Kind))
	p.span(9, e.Timeout)
	p.texts(11, e.After)
	p.text(12, e.Parent)
}

func (p *pen) issue(field int, i instance.Issue) {
	at := p.open(field)
	p.text(1, i.Repo)
	p.int(2, i32(i.Number))
	p.text(3, i.Title)
	p.text(4, i.Body)
	p.texts(5, i.Labels)
	p.text(6, i.Author)
	p.text(7, i.URL)
	p.close(at)
}

func (p *pen) claimed(e instance.Claimed) {
	p.number(1, uint64(u32(e.Token)))
	p.text(2, e.Role)
	p.text(3, e.Agent)
	p.time(4, e.Lease)
	p.text(5, e.Lapsed)
	p.flag(6, e.Direct)
}

func (p *pen) reported(e instance.Reported) {
	p.number(1, uint64(u32(e.Token)))
	p.text(2, e.Role)
	p.text(3, e.Agent)
	p.text(4, e.State)
	p.result(5, e.Result)
	p.int(6, i32(e.Question))
}

func (p *pen) result(field int, r instance.Result) {
	at := p.open(field)
	defer func() { p.close(at) }()
	if len(r.Answers) > 0 || len(r.Evidence) > 0 || len(r.Data) > 0 || len(r.Artifacts) > 0 || len(r.Sections) > 0 {
		p.message(Result(r))
		return
	}
	p.text(1, string(r.Status))
	p.double(2, r.ConfidenceScore)
	p.texts(3, r.IssuesFound)
	p.text(4, r.Next)
	p.text(5, r.Summary)
	p.texts(6, r.Questions)
	p.text(8, r.Head)
	p.text(9, r.Base)
	p.text(10, r.Bundle)
	p.text(12, r.FailureSignature)
	p.spend(15, r.Spend)
}

func (p *pen) spend(field int, s instance.Cost) {
	if s == (instance.Cost{}) {
		return
	}
	at := p.open(field)
	p.number(1, uint64(u32(s.TokensIn)))
	p.number(2, uint64(u32(s.TokensOut)))
	p.double(3, s.USD)
	p.number(4, uint64(u32(s.WallMS)))
	p.close(at)
}

func (p *pen) moved(e instance.Moved) {
	p.text(1, e.From)
	p.text(2, e.To)
	p.text(3, e.Owner)
	p.text(4, string(e.Kind))
	p.text(5, e.Rule)
	p.text(6, e.Reason)
	p.flag(7, e.Failure)
	p.flag(8, e.Loop)
	p.flag(9, e.Override)
	p.span(10, e.Timeout)
	p.flag(11, e.KeepsClaim)
	p.flag(12, e.ResetsFailures)
	p.texts(13, e.Cites)
}
