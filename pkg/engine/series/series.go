// Package series has a persistent list: Append returns a longer list and leaves
// the one it was called on as it is. Both share their common elements, so Append
// costs the same however long the list is.
package series

import (
	"encoding/json"
	"iter"
	"slices"
)

// block is how many elements are copied at most to append one.
const block = 32

// List is a persistent list of T. The zero value is empty.
type List[T comparable] struct {
	full [][]T // of block elements each
	rest []T   // fewer
}

// New returns the list of these elements.
func New[T comparable](elements ...T) List[T] {
	var s List[T]
	for some := range slices.Chunk(elements, block) {
		if len(some) == block {
			s.full = append(s.full, slices.Clone(some))
		} else {
			s.rest = slices.Clone(some)
		}
	}
	return s
}

// Append returns s with one more element.
func (s List[T]) Append(e T) List[T] {
	rest := make([]T, len(s.rest)+1)
	copy(rest, s.rest)
	rest[len(s.rest)] = e
	if len(rest) < block {
		return List[T]{s.full, rest}
	}
	full := make([][]T, len(s.full)+1)
	copy(full, s.full)
	full[len(s.full)] = rest
	return List[T]{full, nil}
}

// Len returns how many elements there are.
func (s List[T]) Len() int { return len(s.full)*block + len(s.rest) }

// Equal reports whether both have the same elements.
func (s List[T]) Equal(o List[T]) bool {
	return slices.Equal(s.rest, o.rest) && slices.EqualFunc(s.full, o.full, slices.Equal[[]T])
}

// Last returns the last n elements, or all if there are not as many, oldest first.
func (s List[T]) Last(n int) []T {
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
func (s List[T]) Slice() []T { return s.Last(s.Len()) }

// Backward gives the elements, newest first.
func (s List[T]) Backward() iter.Seq[T] {
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
func (s List[T]) Blocks() iter.Seq[[]T] {
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
func (s List[T]) MarshalJSON() ([]byte, error) { return json.Marshal(s.Slice()) }
