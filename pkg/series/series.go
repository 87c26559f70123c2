// Package series is a list that only ever grows, as a value: a longer one shares
// what it has in common with the shorter one it was made from, and neither can
// write to the other. To make it longer by one costs the same however long it is.
package series

import (
	"encoding/json"
	"iter"
	"slices"
)

// block is how many elements are copied at most to append one.
const block = 32

// Of is a series of T. The zero value is empty.
type Of[T comparable] struct {
	full [][]T // of block elements each
	rest []T   // fewer
}

// New returns the series of these elements.
func New[T comparable](elements ...T) Of[T] {
	var s Of[T]
	for some := range slices.Chunk(elements, block) {
		if len(some) == block {
			s.full = append(s.full, slices.Clone(some))
		} else {
			s.rest = slices.Clone(some)
		}
	}
	return s
}

// And returns s with one more element.
func (s Of[T]) And(e T) Of[T] {
	rest := make([]T, len(s.rest)+1)
	copy(rest, s.rest)
	rest[len(s.rest)] = e
	if len(rest) < block {
		return Of[T]{s.full, rest}
	}
	full := make([][]T, len(s.full)+1)
	copy(full, s.full)
	full[len(s.full)] = rest
	return Of[T]{full, nil}
}

// Len returns how many elements there are.
func (s Of[T]) Len() int { return len(s.full)*block + len(s.rest) }

// Equal reports whether both have the same elements.
func (s Of[T]) Equal(o Of[T]) bool {
	return slices.Equal(s.rest, o.rest) && slices.EqualFunc(s.full, o.full, slices.Equal[[]T])
}

// Newest returns the last n elements, or all if there are not as many, oldest first.
func (s Of[T]) Newest(n int) []T {
	n = min(n, s.Len())
	if n == 0 {
		return nil
	}
	some, at := make([]T, n), n
	for e := range s.Backward() {
		if at--; at < 0 {
			break
		}
		some[at] = e
	}
	return some
}

// Slice returns all elements, oldest first.
func (s Of[T]) Slice() []T { return s.Newest(s.Len()) }

// Backward gives the elements, newest first.
func (s Of[T]) Backward() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, e := range slices.Backward(s.rest) {
			if !yield(e) {
				return
			}
		}
		for _, some := range slices.Backward(s.full) {
			for _, e := range slices.Backward(some) {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Blocks gives the elements in pieces, oldest first, to look through them fast.
// Nobody may write to a piece.
func (s Of[T]) Blocks() iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for _, some := range s.full {
			if !yield(some) {
				return
			}
		}
		if len(s.rest) > 0 {
			yield(s.rest)
		}
	}
}

// MarshalJSON implements json.Marshaler: a series is an array.
func (s Of[T]) MarshalJSON() ([]byte, error) { return json.Marshal(s.Slice()) }
