package projection

// lazyStates are the states of live instances. Those that came encoded, with a
// snapshot, are decoded when they are first looked up: to decode all would hold up a
// start. Data that cannot be decoded is as if it were not there, and damage says why.
type lazyStates struct {
	states  dense[*State]
	encoded map[string][]byte // nil of one that was decoded since decodeSome was called
	decode  func(data []byte) (*State, error)
	damage  error
}

func (l *lazyStates) get(id string) (*State, bool) {
	if data := l.encoded[id]; data != nil {
		l.load(id, data)
	}
	return l.states.get(id)
}

func (l *lazyStates) load(id string, data []byte) {
	l.encoded[id] = nil
	s, err := l.decode(data)
	if err != nil {
		l.damage = err // the log has it, and Complete reads that
		return
	}
	l.states.put(s)
}

// decodeSome decodes at most batchSize instances, and at most maxBatchBytes but for the
// last of them: to decode one that made a thousand steps takes as long as twenty that
// made eight, and others wait for the lock meanwhile.
const (
	batchSize     = 32
	maxBatchBytes = 16 << 10
)

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
