package client

// half is a promise, or the log's acknowledgement, which it holds with. Either may
// be the first to come.
type half struct {
	promise []byte
	seq     uint64
}

// half takes in one, of a promise that is acknowledged there.
func (b *batches) half(g *batch, at string, h half) {
	other := g.halves[at]
	h.seq = max(h.seq, other.seq)
	if h.promise == nil {
		h.promise = other.promise
	}
	if h.seq > 0 && h.promise != nil {
		b.answered(g, h.promise, h.seq)
		return
	}
	if g.halves == nil {
		g.halves = map[string]half{}
	}
	g.halves[at] = h
}
