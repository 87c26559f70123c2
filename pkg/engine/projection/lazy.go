package projection

// lazyStates are the states of live instances. Those that came encoded, with a
// snapshot, are decoded when they are first looked up: to decode all would hold up a
// start. Data that cannot be decoded is as if it were not there, and damage says why.
type lazyStates struct {
	states  dense[*State]
	encoded map[string][]byte // nil of one that was decoded since decodeSome was called
	decode  func(data []byte) (*State, error)
	put     func(s *State) // called with each state that was decoded
	damage  error
}

// lookUp returns a state. It decodes the state if that has not happened yet.
func (l *lazyStates) lookUp(id string) (*State, bool) {
	if data := l.encoded[id]; data != nil {
		l.load(id, data)
	}
	return l.states.get(id)
}

// load decodes a state and keeps it.
func (l *lazyStates) load(id string, data []byte) {
	l.encoded[id] = nil
	s, err := l.decode(data)
	if err != nil {
		l.damage = err // the log has it, and Complete reads that
		return
	}
	l.states.put(s)
	l.put(s)
}

// batchSize and maxBatchBytes limit what decodeSome decodes at a time, while others wait
// for the lock. To decode an instance of a thousand steps takes as long as to decode
// twenty of eight steps.
const (
	batchSize     = 32
	maxBatchBytes = 16 << 10
)

// decodeSome decodes a batch of instances. The last of them may exceed maxBatchBytes.
func (l *lazyStates) decodeSome() (ids []string, err error) {
	size := 0
	for id, data := range l.encoded {
		if data != nil {
			l.load(id, data)
		}
		delete(l.encoded, id)
		size += len(data)
		if ids = append(ids, id); len(ids) == batchSize || size >= maxBatchBytes {
			return ids, nil
		}
	}
	l.encoded = nil // a map never gets smaller
	return ids, l.damage
}
