package wire

import "github.com/signalbox/signalbox/pkg/instance"

// told writes what message makes, what not every instance has at the end.
func (p *pen) told(t *Told) {
	in := &t.Instance
	p.text(1, in.ID)
	p.text(2, in.Workflow)
	p.text(3, in.Definition)
	p.text(4, in.State)
	p.text(5, string(in.Kind))
	p.text(6, in.Owner)
	p.time(7, in.EnteredAt)
	p.texts(8, t.Past)
	for _, v := range in.Visits {
		p.visit(9, v)
	}
	p.int(10, i32(in.Iteration))
	p.int(11, i32(in.Returns))
	p.flag(12, in.Loop)
	p.int(13, i32(t.Attempt))
	p.claimant(14, in.Claim)
	p.number(15, in.Work)
	p.flag(16, in.Paused)
	p.text(17, string(in.Closed))
	p.text(18, in.Reason)
	p.text(19, in.Base)
	p.text(20, in.Head)
	if in.Last != nil {
		p.result(23, *in.Last)
	}
	p.text(24, in.LastState)
	p.int(26, i32(in.Faults))
	p.spend(29, in.Spend)
	p.issue(31, in.Issue)
	p.time(32, in.OpenedAt)
	p.number(33, in.Seq)
	p.time(34, in.UpdatedAt)
	p.text(35, in.Worker())
	p.number(36, in.Entered)
	p.span(37, in.Timeout)
	p.text(38, string(in.Level))
	if t.Next != "" {
		at := p.open(39)
		p.text(1, string(t.Next))
		p.time(2, t.Due)
		p.close(at)
	}
	p.flag(43, in.Failed)
	p.flag(46, in.Woken)
	p.text(47, in.Parent)
	p.span(49, t.Stay)
	p.span(50, t.Total)
	if more(in) {
		p.message(t.rest())
	}
}

// more reports whether there is what not every instance has.
func more(in *instance.Instance) bool {
	return len(in.Bundles)+len(in.Evidence)+len(in.Questions)+len(in.Notes)+len(in.Artifacts)+len(in.Vars)+len(in.Sections)+
		len(in.Failures)+len(in.Escalations)+len(in.Links) > 0 || in.Parked != nil || in.Failure != (instance.Signature{})
}

// outline writes what outline makes.
func (p *pen) outline(t *Told) {
	in := &t.Instance
	p.text(1, in.ID)
	p.text(2, in.Workflow)
	p.text(4, in.State)
	p.text(5, string(in.Kind))
	p.text(6, in.Owner)
	p.int(10, i32(in.Iteration))
	p.number(15, in.Work)
	p.flag(16, in.Paused)
	p.text(17, string(in.Closed))
	p.number(33, in.Seq)
	p.text(35, in.Worker())
}

func (p *pen) visit(field int, v instance.Visit) {
	at := p.open(field)
	p.text(1, v.State)
	p.int(2, i32(v.Count))
	p.number(3, uint64(u32(v.Total.Milliseconds())))
	p.span(4, v.Total)
	p.close(at)
}

func (p *pen) claimant(field int, c *instance.ActiveClaim) {
	if c == nil {
		return
	}
	at := p.open(field)
	p.number(1, uint64(u32(c.Token)))
	p.text(2, c.Role)
	p.text(3, c.Agent)
	p.time(4, c.At)
	p.time(5, c.Lease)
	p.close(at)
}
