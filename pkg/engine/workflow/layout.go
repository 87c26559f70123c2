package workflow

import (
	"cmp"
	"fmt"
	"slices"
)

// Sizes of the drawing, in pixels.
const (
	margin    = 24
	columnGap = 80  // between columns: room for the curves
	boxGap    = 22  // below a box
	laneGap   = 9   // below a lane
	portGap   = 9   // between the ends of edges at one side of a box
	minHeight = 40  // of a box
	charWidth = 7.3 // of the font
)

// node is a state's box on the canvas or, without a state, a lane: the place
// where edges to one target pass a column.
type node struct {
	state       *State
	column      int
	x, y, w, h  float64 // upper left corner and size
	left, right []port
}

// port is an end of edges at one side of a node.
type port struct {
	other *node
	out   bool
}

func (n *node) middle() float64 { return n.y + n.h/2 }

// edge is a move drawn through the lanes between two boxes.
type edge struct {
	Transition
	path []*node
}

// layout is a drawing of a table: states in columns by their distance from the
// initial one, final states last.
type layout struct {
	boxes   map[string]*node
	lanes   map[string]*node // by target, column and direction
	columns [][]*node
	edges   []edge
	width   float64
	height  float64
}

func newLayout(d *Definition) *layout {
	l := &layout{boxes: map[string]*node{}, lanes: map[string]*node{}}
	l.rank(d)
	for _, s := range d.States {
		for _, t := range s.Next {
			l.connect(l.boxes[s.Name], l.boxes[t.To], t)
		}
	}
	for range 12 {
		l.place()
		for _, column := range l.columns {
			slices.SortStableFunc(column, func(a, b *node) int { return cmp.Compare(a.centre(), b.centre()) })
		}
	}
	l.place()
	byHeight := func(a, b port) int { return cmp.Compare(a.other.middle(), b.other.middle()) }
	for _, column := range l.columns {
		for _, n := range column {
			slices.SortStableFunc(n.left, byHeight)
			slices.SortStableFunc(n.right, byHeight)
		}
	}
	return l
}

// rank gives every state its column.
func (l *layout) rank(d *Definition) {
	put := func(s State, column int) {
		for len(l.columns) <= column {
			l.columns = append(l.columns, nil)
		}
		n := &node{state: &s, column: column}
		l.boxes[s.Name] = n
		l.columns[column] = append(l.columns[column], n)
	}
	front, column := []string{d.Initial}, 0
	for ; len(front) > 0; column++ {
		var next []string
		for _, name := range front {
			if s, _ := d.State(name); l.boxes[name] == nil && s.Kind != Final {
				put(s, column)
				next = append(next, s.row()...)
			}
		}
		front = next
	}
	last := len(l.columns)
	for _, s := range d.States { // the final ones, and any that cannot be reached
		if l.boxes[s.Name] == nil {
			put(s, last)
		}
	}
}

// connect leads an edge through a lane of every column between its ends. Edges
// to the same target share their lanes.
func (l *layout) connect(from, to *node, t Transition) {
	path := []*node{from}
	step := cmp.Compare(to.column, from.column)
	for c := from.column + step; c != to.column && step != 0; c += step {
		key := fmt.Sprint(t.To, c, step)
		lane := l.lanes[key]
		if lane == nil {
			lane = &node{column: c}
			l.lanes[key] = lane
			l.columns[c] = append(l.columns[c], lane)
		}
		path = append(path, lane)
	}
	path = append(path, to)
	for i, a := range path[:len(path)-1] {
		a.join(path[i+1])
	}
	l.edges = append(l.edges, edge{t, path})
}

func (n *node) join(to *node) {
	add := func(list *[]port, p port) {
		if !slices.Contains(*list, p) {
			*list = append(*list, p)
		}
	}
	switch {
	case n.column < to.column:
		add(&n.right, port{to, true})
		add(&to.left, port{n, false})
	case n.column > to.column:
		add(&n.left, port{to, true})
		add(&to.right, port{n, false})
	default:
		add(&n.right, port{to, true})
		add(&to.right, port{n, false})
	}
}

// place gives every node its size and corner, columns centred on one another.
func (l *layout) place() {
	heights := make([]float64, len(l.columns))
	x := float64(margin)
	l.height = 0
	for i, column := range l.columns {
		w := 0.0
		for _, n := range column {
			if n.state != nil {
				n.h = max(minHeight, portGap*float64(1+max(len(n.left), len(n.right))))
				w = max(w, charWidth*float64(max(len(n.state.Name), len(n.state.under())))+20)
			}
			heights[i] += n.h + n.gap()
		}
		for _, n := range column {
			n.x, n.w = x, w
		}
		l.height = max(l.height, heights[i])
		x += w + columnGap
	}
	for i, column := range l.columns {
		y := margin + (l.height-heights[i])/2
		for _, n := range column {
			n.y = y
			y += n.h + n.gap()
		}
	}
	l.width, l.height = x-columnGap+margin, l.height+2*margin
}

func (n *node) gap() float64 {
	if n.state == nil {
		return laneGap
	}
	return boxGap
}

// centre is the mean height of a node's neighbours in other columns, or its own.
func (n *node) centre() float64 {
	sum, count := 0.0, 0
	for _, p := range slices.Concat(n.left, n.right) {
		if p.other.column != n.column {
			sum, count = sum+p.other.middle(), count+1
		}
	}
	if count == 0 {
		return n.middle()
	}
	return sum / float64(count)
}

// end is where the edge to or from another node meets this one.
func (n *node) end(other *node, out bool) (x, y float64) {
	if n.state == nil {
		if n.column > other.column {
			return n.x, n.middle()
		}
		return n.x + n.w, n.middle()
	}
	x, ports := n.x+n.w, n.right
	if n.column > other.column {
		x, ports = n.x, n.left
	}
	i := slices.Index(ports, port{other, out})
	return x, n.y + n.h*float64(i+1)/float64(len(ports)+1)
}
