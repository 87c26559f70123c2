package projection

// dense is a map that can be read in chunks while others change it: its values lie in
// a slice as well.
type dense[T any] struct {
	index map[string]uint32
	ids   func(T) string
	all   []T
}

func newDense[T any](id func(T) string) dense[T] {
	return dense[T]{index: map[string]uint32{}, ids: id}
}

func (d *dense[T]) get(id string) (v T, ok bool) {
	i, ok := d.index[id]
	if ok {
		v = d.all[i]
	}
	return v, ok
}

// put adds a value under the id that it has, or replaces the one that is there.
func (d *dense[T]) put(v T) {
	id := d.ids(v)
	if i, ok := d.index[id]; ok {
		d.all[i] = v
		return
	}
	d.index[id] = uint32(len(d.all))
	d.all = append(d.all, v)
}

// remove moves the last value to where the removed one was.
func (d *dense[T]) remove(id string) {
	i, ok := d.index[id]
	if !ok {
		return
	}
	last := len(d.all) - 1
	d.all[i] = d.all[last]
	d.index[d.ids(d.all[i])] = i
	delete(d.index, id)
	var none T
	d.all[last], d.all = none, d.all[:last]
}

// chunk copies the n values before position end, or as many as there are, and returns the
// end of the chunk before. To read all begin with len(all) and go on until end is 0.
// A value that is there all the time is then read once or, if it was moved, twice.
func (d *dense[T]) chunk(end, n int) (some []T, next int) {
	end = min(end, len(d.all))
	next = max(end-n, 0)
	return append(some, d.all[next:end]...), next
}
