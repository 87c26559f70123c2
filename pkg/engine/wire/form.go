package wire

import (
	"github.com/signalbox/signalbox/pkg/engine/question"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// form encodes the form of an answer; nil: any words.
func form(f question.Form) *pb.QuestionForm {
	if f.Kind == question.Text && len(f.Options) == 0 && f.Default == "" && f.Reason == "" {
		return nil
	}
	return &pb.QuestionForm{Kind: string(f.Kind), Options: f.Options, Default: f.Default, Reason: f.Reason}
}

func toForm(p *pb.QuestionForm) question.Form {
	return question.Form{Kind: question.Kind(name(p.GetKind())), Options: p.GetOptions(), Default: p.GetDefault(), Reason: p.GetReason()}
}

func wanted(w question.Wanted) *pb.WantedForm {
	return &pb.WantedForm{Form: form(w.Form), Within: span(w.Within)}
}

func toWanted(p *pb.WantedForm) question.Wanted {
	return question.Wanted{Form: toForm(p.GetForm()), Within: p.GetWithin().AsDuration()}
}

// eachIn maps the values of a map; of an empty one it returns nil.
func eachIn[K comparable, A, B any](as map[K]A, f func(A) B) map[K]B {
	if len(as) == 0 {
		return nil
	}
	bs := make(map[K]B, len(as))
	for k, a := range as {
		bs[k] = f(a)
	}
	return bs
}
