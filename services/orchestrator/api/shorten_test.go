package api

import (
	"strings"
	"testing"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestWhatIsShortenedStaysWhatItWas(t *testing.T) {
	long, sections := strings.Repeat("x", 1000), map[string]string{"short": `{}`, "long": `"` + strings.Repeat("x", 1000) + `"`}
	seen := map[string]string{"head": "c1", "body": long}
	p := &pb.Instance{
		Sections: sections, Escalations: []*pb.Escalation{{Reason: long}}, Evidence: []*pb.Evidence{{Data: seen}},
		LastResult: &pb.Result{Sections: sections},
	}
	shorten(p, 100)
	if len(p.Sections) != 1 || p.Sections["short"] != `{}` || p.LastResult.Sections != nil {
		t.Errorf("sections are %v and %v", p.Sections, p.LastResult.Sections)
	}
	for name, text := range map[string]string{"a reason": p.Escalations[0].Reason, "what was seen": p.Evidence[0].Data["body"]} {
		if len(text) > 200 || !strings.Contains(text, "bytes left out") {
			t.Errorf("%s is %.40q of %d bytes", name, text, len(text))
		}
	}
	if len(sections) != 2 || len(seen["body"]) != 1000 || p.Evidence[0].Data["head"] != "c1" {
		t.Error("what it was made from is changed")
	}
}
