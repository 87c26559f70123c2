package wire

// Sketch is as much of an encoded instance as tells who it is, and whether it can
// stay encoded until somebody asks for it.
type Sketch struct {
	ID, Definition string
	Given          bool // a claim was given it, which did not name it
	Encoded        []byte
}

// Sketches returns those of encoded LiveInstances; ok is false if they have to be
// decoded to tell.
func (n *Names) Sketches(block []byte) (all []Sketch, ok bool) {
	q := quick{names: n}
	for f := q.fields(block); f.more(); {
		if f.key != 1<<3|text {
			return nil, false
		}
		one := q.sketch(f.bytes)
		q.spoiled = q.spoiled || one.ID == ""
		all = append(all, one)
	}
	return all, !q.spoiled
}

func (q *quick) sketch(data []byte) Sketch {
	s := Sketch{Encoded: data}
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | text:
			q.spoiled = q.spoiled || s.ID != "" // a second one
			q.named(f.bytes, &s)
		case 8<<3 | text:
			s.Given = true
		}
	}
	return s
}

// named reads what an Instance begins with.
func (q *quick) named(data []byte, s *Sketch) {
	for f := q.fields(data); f.more() && f.key <= 3<<3|text; {
		switch f.key {
		case 1<<3 | text:
			s.ID = q.text(f.bytes)
		case 3<<3 | text:
			s.Definition = q.name(f.bytes)
		}
	}
}
