package api

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

var errTooLarge = errors.New("the answer is too large for one message")

// margin is what the headers of an answer may need.
const margin = 8 << 10

// fit encodes a reply so that it goes into one message. An instance's texts are
// as long as people and programs made them: where they are too long together,
// each is cut, and the oldest notes are left out. The history has all of them.
func (s *Server) fit(r request, reply proto.Message) ([]byte, string, error) {
	most := int(s.Conn.MaxPayload()) - margin
	data, kind, err := r.encode(reply)
	holder, ok := reply.(interface{ GetInstance() *pb.Instance })
	for limit := 32 << 10; err == nil && len(data) > most; limit /= 4 {
		if !ok || holder.GetInstance() == nil || limit < 128 {
			return nil, "", fmt.Errorf("%w: it has %d bytes, want at most %d", errTooLarge, len(data), most)
		}
		shorten(holder.GetInstance(), limit)
		data, kind, err = r.encode(reply)
	}
	return data, kind, err
}

// shorten cuts every text of p that may be long to the limit, and all notes
// together to sixteen times of it; a section that is longer is left out. What the
// slices and maps of p refer to belongs to the engine and is not written to.
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
	p.Sections = maps.Clone(p.Sections) // half of one would be no JSON
	maps.DeleteFunc(p.Sections, func(_, text string) bool { return len(text) > limit })
	shortenEvidence(p.Evidence, limit)
	if r := p.LastResult; r != nil {
		r.Summary, r.Sections = cut(r.Summary, limit), nil
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

// cutAll keeps of a list what fits the limit, and at least the beginning of its first.
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

// cut is the beginning of a text, and how much is missing.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + fmt.Sprintf("\n[… %d bytes left out …]", len(text)-limit)
}
