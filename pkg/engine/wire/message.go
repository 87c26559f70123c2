package wire

import "google.golang.org/protobuf/proto"

// Marshal encodes a message, with generated code where there is some. That code does not
// check that texts are UTF-8, and does not sort maps: what is stored or comes from outside
// is not for it.
func Marshal(m proto.Message) ([]byte, error) {
	if generated, ok := m.(interface{ MarshalVT() ([]byte, error) }); ok {
		return generated.MarshalVT()
	}
	return proto.Marshal(m)
}

// Unmarshal decodes a message, with generated code where there is some. That code does
// not check that texts are UTF-8. It is for what an orchestrator sent, which took in
// nothing else, and for messages without a text.
func Unmarshal(data []byte, m proto.Message) error {
	if generated, ok := m.(interface{ UnmarshalVT([]byte) error }); ok {
		proto.Reset(m)
		return generated.UnmarshalVT(data)
	}
	return proto.Unmarshal(data, m)
}
