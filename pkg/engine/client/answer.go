package client

import (
	"context"

	"github.com/nats-io/nuid"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// AnswerQuestions answers questions by their numbers, or changes answers: all of them, or none. A refusal
// names the permitted answers.
func (c *Client) AnswerQuestions(ctx context.Context, name string, answers ...*pb.Answer) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Answer, &pb.Command{Instance: name, Action: &pb.Command_Answer{Answer: &pb.Reply{Answers: answers}}})
}

// Answer gives an instance that waits for people the operator's answer: text resolves the
// escalation with the number, or, for 0, is a comment. A comment answers open questions by
// lines that begin with "Q1:".
func (c *Client) Answer(ctx context.Context, name string, escalation int32, text string) (*pb.CommandReply, error) {
	if escalation > 0 {
		return c.Resolve(ctx, name, escalation, text)
	}
	return c.Signal(ctx, name, "commented", nuid.Next(), c.actor, map[string]string{"body": text, "operator": "true"})
}
