package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// shorten cuts each text of p that may be long to limit bytes, and all notes together to sixteen times
// that. It leaves out longer sections, since a part of one is no JSON. It does not write to the slices
// and maps that p refers to: the engine owns them.
func shorten(p *pb.Instance, limit int) {
	if i := p.GetIssue(); i != nil {
		i.Title, i.Body = cut(i.Title, limit), cut(i.Body, limit)
	}
	p.Reason = cut(p.Reason, limit)
	total := 0
	for i, n := range slices.Backward(p.Notes) {
		n.Text = cut(n.Text, limit)
		if total += len(n.Text); total > 16*limit {
			p.Notes = p.Notes[i+1:]
			break
		}
	}
	for _, q := range p.Questions {
		q.Text, q.Answer = cut(q.Text, limit), cut(q.Answer, limit)
	}
	for _, e := range p.Escalations {
		e.Reason, e.Resolution = cut(e.Reason, limit), cut(e.Resolution, limit)
	}
	p.Sections = maps.Clone(p.Sections)
	maps.DeleteFunc(p.Sections, func(_, text string) bool { return len(text) > limit })
	shortenEvidence(p.Evidence, limit)
	if r := p.LastResult; r != nil {
		r.Summary, r.Sections, r.Forms = cut(r.Summary, limit), nil, nil
		r.IssuesFound, r.Questions = cutAll(r.IssuesFound, limit), cutAll(r.Questions, limit)
		for _, a := range r.Answers {
			a.Text = cut(a.Text, limit)
		}
		shortenEvidence(r.Evidence, limit)
	}
}

func shortenEvidence(all []*pb.Evidence, limit int) {
	for _, e := range all {
		e.Output, e.Failed, e.Data = cut(e.Output, limit), cutAll(e.Failed, limit), maps.Clone(e.Data)
		for name, text := range e.Data {
			e.Data[name] = cut(text, limit)
		}
	}
}

// cutAll returns the first texts, which have limit bytes together, and at least the beginning of one.
func cutAll(texts []string, limit int) []string {
	var kept []string
	for _, text := range texts {
		text = cut(text, limit)
		if limit -= len(text); limit < 0 && len(kept) > 0 {
			break
		}
		kept = append(kept, text)
	}
	return kept
}

// cut returns the first limit bytes of a text, and a line that says how many it left out.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + fmt.Sprintf("\n[… %d bytes left out …]", len(text)-limit)
}
