package wire

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrBatch says that what came is not a Batch or a BatchReply.
var ErrBatch = errors.New("not a batch")

// The fields of Batch, BatchReply and BatchAnswer. What is in them is encoded and
// decoded by those that ask and answer, beside each other: here it is bytes.
const (
	batchCommands = 1
	batchAnswers  = 1
	answerNumber  = 1
	answerReply   = 2
)

// AppendCommand appends an encoded Command to a Batch.
func AppendCommand(batch, command []byte) []byte {
	batch = protowire.AppendTag(batch, batchCommands, protowire.BytesType)
	return protowire.AppendBytes(batch, command)
}

// Commands returns the encoded commands of a Batch.
func Commands(batch []byte) ([][]byte, error) {
	var all [][]byte
	q := new(quick)
	for f := q.fields(batch); f.more(); {
		if f.key == batchCommands<<3|text {
			all = append(all, f.bytes)
		}
	}
	if q.spoiled {
		return nil, ErrBatch
	}
	return all, nil
}

// AppendAnswer appends the encoded CommandReply to the command of that place to
// a BatchReply.
func AppendAnswer(batch []byte, place int, reply []byte) []byte {
	size := protowire.SizeTag(answerNumber) + protowire.SizeVarint(uint64(place)) +
		protowire.SizeTag(answerReply) + protowire.SizeBytes(len(reply))
	batch = protowire.AppendTag(batch, batchAnswers, protowire.BytesType)
	batch = protowire.AppendVarint(batch, uint64(size))
	batch = protowire.AppendTag(batch, answerNumber, protowire.VarintType)
	batch = protowire.AppendVarint(batch, uint64(place))
	batch = protowire.AppendTag(batch, answerReply, protowire.BytesType)
	return protowire.AppendBytes(batch, reply)
}

// Answers calls f with the place of a command and its encoded CommandReply, for
// each answer of a BatchReply that can be read.
func Answers(batch []byte, f func(place uint64, reply []byte)) error {
	q := new(quick)
	for all := q.fields(batch); all.more(); {
		if all.key != batchAnswers<<3|text {
			continue
		}
		var place uint64
		var reply []byte
		one := q.fields(all.bytes)
		for one.more() {
			switch one.key {
			case answerNumber<<3 | number:
				place = one.value
			case answerReply<<3 | text:
				reply = one.bytes
			}
		}
		if !q.spoiled {
			f(place, reply)
		}
	}
	if q.spoiled {
		return ErrBatch
	}
	return nil
}
