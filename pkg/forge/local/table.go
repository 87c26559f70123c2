package local

import (
	"cmp"
	"slices"
)

// table is rows in the order of their keys, copied when one changes.
type table[T interface{ key() int64 }] []T

func (t table[T]) find(key int64) (int, bool) {
	return slices.BinarySearchFunc(t, key, func(row T, key int64) int { return cmp.Compare(row.key(), key) })
}

func (t table[T]) get(key int64) (T, bool) {
	if at, ok := t.find(key); ok {
		return t[at], true
	}
	var none T
	return none, false
}

func (t table[T]) with(row T) table[T] {
	at, ok := t.find(row.key())
	if ok {
		t = slices.Clone(t)
		t[at] = row
		return t
	}
	return slices.Insert(slices.Clip(t), at, row)
}

// where is the rows that fit.
func (t table[T]) where(fits func(T) bool) []T {
	rows := []T{}
	for _, row := range t {
		if fits(row) {
			rows = append(rows, row)
		}
	}
	return rows
}
