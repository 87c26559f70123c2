package app

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// owedReply is a reply to reviewers that the forge has not taken, because the conversation is
// locked, interaction is limited, or the reviewer has blocked us. It does not hold the work:
// later visits post it. The variable "owed" lists them as JSON.
type owedReply struct {
	Question int    `json:"question"`         // whose answer it is
	Commit   string `json:"commit,omitempty"` // that was pushed for it; empty: nothing was changed
}

// owedVar encodes the replies for the variable.
func owedVar(owed []owedReply) string {
	if len(owed) == 0 {
		return ""
	}
	out, err := json.Marshal(owed)
	if err != nil {
		return "" // unreachable: numbers and texts can always be encoded
	}
	return string(out)
}

// payReplies posts the replies that are owed. Those that the forge still refuses stay owed.
func (t *visit) payReplies(ctx context.Context) (r instance.Result, done bool, err error) {
	var still []owedReply
	for _, o := range t.owed {
		i := slices.IndexFunc(t.job.Questions, func(q instance.Question) bool { return q.Number == o.Question })
		if i < 0 {
			continue
		}
		ev, _ := t.job.accepted(o.Commit)
		if ev.Commit != o.Commit {
			ev = instance.Evidence{}
		}
		err := t.reply(ctx, t.job.Questions[i], ev, o.Commit)
		if err != nil && !forgeside.RefusesComment(err) {
			return r, false, err
		}
		if err != nil {
			still = append(still, o)
		}
	}
	t.owed = still
	return r, false, nil
}

// owe keeps a reply that the forge refused for later visits.
func (t *visit) owe(q instance.Question, commit string, refusal error) {
	t.owed = append(slices.Clone(t.owed), owedReply{Question: q.Number, Commit: commit})
	t.logUntold("the reviewers are answered later: the pull request takes no comment", refusal, "instance", t.job.Instance)
}

// logUntold logs that the forge takes no comment.
func (s *shepherd) logUntold(what string, refusal error, about ...any) {
	if s.gate.Log != nil {
		s.gate.Log.Warn(what, append([]any{"error", refusal}, about...)...)
	}
}
