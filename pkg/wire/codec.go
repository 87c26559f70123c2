package wire

import "google.golang.org/protobuf/proto"

// generated is what messages have that are encoded and decoded by code made for
// them. It takes text for UTF-8 that is not, so that is looked at apart.
type generated interface {
	Reset()
	MarshalVT() ([]byte, error)
	UnmarshalVT([]byte) error
	PlainVT() bool
}

// Marshal is proto.Marshal, but faster where a message has code of its own.
func Marshal(m proto.Message) ([]byte, error) {
	if g, ok := m.(generated); ok && g.PlainVT() {
		return g.MarshalVT()
	}
	return proto.Marshal(m)
}

// Unmarshal is proto.Unmarshal, but faster where a message has code of its own.
// Of a number with more bits than it can have it leaves out those, which
// proto.Unmarshal refuses, and of times and durations fields they do not have:
// it is for what this project has written, not for what comes from outside.
func Unmarshal(data []byte, m proto.Message) error {
	if g, ok := m.(generated); ok {
		g.Reset()
		if g.UnmarshalVT(data) == nil && g.PlainVT() {
			return nil
		}
	}
	return proto.Unmarshal(data, m)
}

// deterministic is Marshal, where equal messages have to be equal bytes.
func deterministic(m interface {
	proto.Message
	generated
	SoleVT() bool
}) ([]byte, error) {
	if m.SoleVT() && m.PlainVT() {
		return m.MarshalVT()
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}
