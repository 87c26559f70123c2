package store

import (
	"cmp"
	"slices"
)

// Table is a list of rows in the order of their keys. Its methods copy it and never
// change it.
type Table[T interface{ key() int64 }] []T

func (t Table[T]) find(key int64) (int, bool) {
	return slices.BinarySearchFunc(t, key, func(row T, key int64) int { return cmp.Compare(row.key(), key) })
}

// Get returns the row with the key.
func (t Table[T]) Get(key int64) (T, bool) {
	if at, ok := t.find(key); ok {
		return t[at], true
	}
	var none T
	return none, false
}

// with returns the table with the row inserted, or in place of the one with its key.
func (t Table[T]) with(row T) Table[T] {
	at, ok := t.find(row.key())
	if ok {
		t = slices.Clone(t)
		t[at] = row
		return t
	}
	return slices.Insert(slices.Clip(t), at, row)
}

// Where returns the rows that match. The slice is the caller's.
func (t Table[T]) Where(match func(T) bool) []T {
	rows := []T{}
	for _, row := range t {
		if match(row) {
			rows = append(rows, row)
		}
	}
	return rows
}
