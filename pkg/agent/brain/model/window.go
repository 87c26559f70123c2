package model

import "fmt"

const (
	bytesPerToken = 3 // fewer than there are mostly, so that the estimate is too high
	keepResults   = 6 // messages at the end whose results always stay
)

// window keeps a conversation within what the model can read.
type window struct {
	size int64 // tokens, without the answer's
	used int64 // by the newest request and its answer, as the provider counted
	tell func(format string, args ...any)
}

// took records what the newest turn used.
func (w *window) took(u usage) { w.used = u.all() }

// fit leaves out old output of tools if the conversation may be too long for the next
// request: much at once, for it costs what the provider has cached.
func (w *window) fit(all []message) {
	if w.used+fresh(all) < w.size*9/10 {
		return
	}
	w.shrink(all)
}

// fresh estimates the tokens after the newest answer.
func fresh(all []message) int64 {
	n := 0
	for i := len(all) - 1; i >= 0 && all[i].reply == nil; i-- {
		n += all[i].size()
	}
	return int64(n / bytesPerToken)
}

func (m message) size() int {
	n := len(m.text)
	for _, r := range m.results {
		n += len(r.text)
	}
	return n
}

// shrink leaves out the older half of the output of tools. It reports whether there was
// any.
func (w *window) shrink(all []message) bool {
	total := 0
	for _, m := range all[:max(len(all)-keepResults, 0)] {
		for _, r := range m.results {
			if !r.dropped {
				total += len(r.text)
			}
		}
	}
	left := total / 2
	dropped, n := 0, 0
	for _, m := range all[:max(len(all)-keepResults, 0)] {
		for i := range m.results {
			r := &m.results[i]
			if r.dropped || len(r.text) < 200 || left <= 0 {
				continue
			}
			left -= len(r.text)
			dropped += len(r.text)
			n++
			r.text, r.dropped = fmt.Sprintf("[%d bytes of output are left out to make room; call the tool again if you need them]", len(r.text)),
				true
		}
	}
	if n == 0 {
		return false
	}
	w.used = max(w.used-int64(dropped/bytesPerToken), 0)
	w.tell("the conversation is near the model's limit of %d tokens: %d old outputs of tools, %d bytes, are left out", w.size, n, dropped)
	return true
}
