package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// ErrBatch means that what was received is not a Batch or a BatchReply.
var ErrBatch = errors.New("not a batch")

// Batch encodes a Batch of encoded Commands.
func Batch(commands ...[]byte) []byte {
	return encode(&pb.EncodedBatch{Commands: commands})
}

// Commands returns the encoded commands of a Batch, or ErrBatch.
func Commands(batch []byte) ([][]byte, error) {
	p := new(pb.EncodedBatch)
	if err := Unmarshal(batch, p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBatch, err)
	}
	return p.GetCommands(), nil
}

// Answer is the encoded CommandReply to the command at index Number of a Batch.
type Answer struct {
	Number int
	Reply  []byte
}

// BatchReply encodes a BatchReply.
func BatchReply(answers ...Answer) []byte {
	return encode(&pb.EncodedBatchReply{Answers: each(answers, func(a Answer) *pb.EncodedBatchAnswer {
		return &pb.EncodedBatchAnswer{Number: uint32(a.Number), Reply: a.Reply}
	})})
}

// Answers calls f with the index of a command and its encoded CommandReply, for
// each answer of a BatchReply. It returns ErrBatch if that cannot be decoded.
func Answers(batch []byte, f func(number uint64, reply []byte)) error {
	p := new(pb.EncodedBatchReply)
	if err := Unmarshal(batch, p); err != nil {
		return fmt.Errorf("%w: %w", ErrBatch, err)
	}
	for _, a := range p.GetAnswers() {
		f(uint64(a.GetNumber()), a.GetReply())
	}
	return nil
}

// encode encodes m, which has no text: nothing in it can fail to be encoded.
func encode(m proto.Message) []byte {
	data, err := Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

// Marshal encodes a message, with generated code if the message has it. That code neither
// checks texts for UTF-8 nor sorts maps. Use proto.Marshal for messages that are stored or
// come from outside.
func Marshal(m proto.Message) ([]byte, error) {
	if generated, ok := m.(interface{ MarshalVT() ([]byte, error) }); ok {
		return generated.MarshalVT()
	}
	return proto.Marshal(m)
}

// Unmarshal decodes a message, with generated code if the message has it. That code does not
// check texts for UTF-8. Use it for messages of an orchestrator, which accepts no other
// texts, and for messages without texts.
func Unmarshal(data []byte, m proto.Message) error {
	if generated, ok := m.(interface{ UnmarshalVT([]byte) error }); ok {
		proto.Reset(m)
		return generated.UnmarshalVT(data)
	}
	return proto.Unmarshal(data, m)
}
