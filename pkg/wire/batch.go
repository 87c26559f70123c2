package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// ErrBatch says that what was received is not a Batch or a BatchReply.
var ErrBatch = errors.New("not a batch")

// AppendCommand appends an encoded Command to a Batch.
func AppendCommand(batch, command []byte) []byte {
	return appendMessage(batch, &pb.EncodedBatch{Commands: [][]byte{command}})
}

// Commands returns the encoded commands of a Batch, or ErrBatch.
func Commands(batch []byte) ([][]byte, error) {
	p := new(pb.EncodedBatch)
	if err := proto.Unmarshal(batch, p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBatch, err)
	}
	return p.GetCommands(), nil
}

// AppendAnswer appends to a BatchReply the encoded CommandReply that answers the
// command at index number of the Batch.
func AppendAnswer(batch []byte, number int, reply []byte) []byte {
	return appendMessage(batch, &pb.EncodedBatchReply{Answers: []*pb.EncodedBatchAnswer{{Number: uint32(number), Reply: reply}}})
}

// Answers calls f with the index of a command and its encoded CommandReply, for
// each answer of a BatchReply. It returns ErrBatch if that cannot be decoded.
func Answers(batch []byte, f func(number uint64, reply []byte)) error {
	p := new(pb.EncodedBatchReply)
	if err := proto.Unmarshal(batch, p); err != nil {
		return fmt.Errorf("%w: %w", ErrBatch, err)
	}
	for _, a := range p.GetAnswers() {
		f(uint64(a.GetNumber()), a.GetReply())
	}
	return nil
}

// appendMessage appends the fields of m, which the decoder adds to those before.
// m has no text: nothing in it can fail to be encoded.
func appendMessage(data []byte, m proto.Message) []byte {
	data, err := proto.MarshalOptions{}.MarshalAppend(data, m)
	if err != nil {
		panic(err)
	}
	return data
}
