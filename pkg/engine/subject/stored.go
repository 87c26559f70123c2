package subject

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// taken is what the answer to a message that is in the log now nearly always begins with.
const taken = `{"stream":"` + EventStream + `","seq":`

// Stored returns the sequence of a message, if the server acknowledges that it is stored.
// ok is false of any other answer of the server: an error, a message that it had before, a
// batch.
func Stored(ack []byte) (seq uint64, ok bool) {
	if digits, ok := bytes.CutPrefix(bytes.TrimSuffix(ack, []byte{'}'}), []byte(taken)); ok {
		if seq, err := strconv.ParseUint(string(digits), 10, 64); err == nil && ack[len(ack)-1] == '}' {
			return seq, seq > 0
		}
	}
	var a struct {
		Stream    string          `json:"stream"`
		Seq       uint64          `json:"seq"`
		Duplicate bool            `json:"duplicate"`
		Batch     string          `json:"batch"`
		Error     json.RawMessage `json:"error"`
	}
	if json.Unmarshal(ack, &a) != nil || a.Stream != EventStream || a.Duplicate || a.Batch != "" || a.Error != nil {
		return 0, false // a duplicate has the sequence of what may be another commit
	}
	return a.Seq, a.Seq > 0
}
