package projection

import (
	"iter"
	"slices"
	"sort"
	"strings"
)

// blockSize is how many values a block of sorted has at most. Its readers hold the lock of states
// for a block.
const blockSize = 512

// sorted is a set of values in order of their ids. They lie in blocks, so that to add one moves few
// others, and to read many is to read memory in a row.
type sorted[T any] struct {
	id     func(*T) string
	blocks [][]T // none is empty
}

// find returns the block where an id is or belongs, and its place there.
func (o *sorted[T]) find(id string) (block, place int, found bool) {
	block = sort.Search(len(o.blocks), func(i int) bool { b := o.blocks[i]; return o.id(&b[len(b)-1]) >= id })
	if block == len(o.blocks) {
		if block == 0 {
			return 0, 0, false
		}
		return block - 1, len(o.blocks[block-1]), false
	}
	b := o.blocks[block]
	place, found = sort.Find(len(b), func(i int) int { return strings.Compare(id, o.id(&b[i])) })
	return block, place, found
}

// put adds a value, or replaces the one with its id. It returns the one that was there.
func (o *sorted[T]) put(v T) (before T, replaced bool) {
	block, place, found := o.find(o.id(&v))
	if found {
		before, o.blocks[block][place] = o.blocks[block][place], v
		return before, true
	}
	if len(o.blocks) == 0 {
		o.blocks = [][]T{newBlock(v)}
		return before, false
	}
	b := o.blocks[block]
	if len(b) < blockSize {
		o.blocks[block] = slices.Insert(b, place, v)
		return before, false
	}
	half := blockSize / 2
	if block == len(o.blocks)-1 && place == blockSize { // most ids come in order
		half = blockSize
	}
	rest := newBlock(b[half:]...)
	clear(b[half:])
	b = b[:half]
	if place < half {
		b = slices.Insert(b, place, v)
	} else {
		rest = slices.Insert(rest, place-half, v)
	}
	o.blocks[block] = b
	o.blocks = slices.Insert(o.blocks, block+1, rest)
	return before, false
}

// newBlock returns a block that never has to grow.
func newBlock[T any](of ...T) []T { return append(make([]T, 0, blockSize), of...) }

// remove removes the value with an id, and returns it.
func (o *sorted[T]) remove(id string) (v T, found bool) {
	block, place, found := o.find(id)
	if !found {
		return v, false
	}
	v = o.blocks[block][place]
	if o.blocks[block] = slices.Delete(o.blocks[block], place, place+1); len(o.blocks[block]) == 0 {
		o.blocks = slices.Delete(o.blocks, block, block+1)
	}
	return v, true
}

// behind yields what is left of the block that has the first value behind an id.
func (o *sorted[T]) behind(id string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		block, place, found := o.find(id)
		if found {
			place++
		}
		if block < len(o.blocks) && place == len(o.blocks[block]) {
			block, place = block+1, 0
		}
		if block >= len(o.blocks) {
			return
		}
		for i := range o.blocks[block][place:] {
			if !yield(&o.blocks[block][place+i]) {
				return
			}
		}
	}
}
