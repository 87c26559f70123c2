package workflow

import (
	"cmp"
	"slices"
	"strings"
)

// Sizes of the drawing, in pixels.
const (
	margin    = 14
	boxWidth  = 196
	minHeight = 40 // of a box
	rowGap    = 30 // between boxes: room for a move to the next one
	portGap   = 13 // between the ends of moves at one side of a box
	laneGap   = 9
	labelRoom = 44 // between a box and the first lane
	nameWidth = 24 // characters in a line of a name
)

// box is a state on the canvas. The states stand in one column.
type box struct {
	state       State
	row         int
	lines       []string // of the name
	y, h        float64
	left, right []*lane // in the order of their ports, from the top
}

func (s *box) middle() float64 { return s.y + s.h/2 }

// lane is the vertical line that all moves into one state share on one side of the column: moves
// down on the right, moves up on the left.
type lane struct {
	to          *box
	left        bool
	first, last int // rows
	at          int // 0 is next to the boxes
}

// move is a move with its lane; nil for one to the next row or to the same one.
type move struct {
	Transition
	from, to *box
	lane     *lane
}

// layout is a drawing of a table.
type layout struct {
	boxes         []*box
	moves         []move
	lefts, rights int     // lanes
	x             float64 // left edge of the boxes
	width, height float64
}

func newLayout(d *Definition) *layout {
	l := &layout{}
	at := map[string]*box{}
	for i, s := range order(d) {
		b := &box{state: s, row: i, lines: broken(s.Name)}
		at[s.Name] = b
		l.boxes = append(l.boxes, b)
	}
	l.connect(at)
	l.place()
	return l
}

// connect gives each move its lane, and each lane its place.
func (l *layout) connect(at map[string]*box) {
	type key struct {
		to   string
		left bool
	}
	lanes := map[key]*lane{}
	var all []*lane
	for _, from := range l.boxes {
		for _, t := range from.state.Next {
			to := at[t.To]
			m := move{Transition: t, from: from, to: to}
			if down := to.row - from.row; down != 0 && down != 1 {
				k := key{t.To, down < 0}
				if lanes[k] == nil {
					lanes[k] = &lane{to: to, left: k.left, first: to.row, last: to.row}
					all = append(all, lanes[k])
				}
				m.lane = lanes[k]
				m.lane.first, m.lane.last = min(m.lane.first, from.row), max(m.lane.last, from.row)
			}
			l.moves = append(l.moves, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *lane) int { return cmp.Or((a.last-a.first)-(b.last-b.first), a.first-b.first) })
	for i, one := range all {
		for slices.ContainsFunc(all[:i], func(o *lane) bool {
			return o.left == one.left && o.at == one.at && o.first <= one.last && one.first <= o.last
		}) {
			one.at++
		}
		if one.left {
			l.lefts = max(l.lefts, one.at+1)
		} else {
			l.rights = max(l.rights, one.at+1)
		}
	}
}

// place gives each box its corner and its ports. On the right the lane that ends has the first
// port, then the outermost lane that begins; on the left it is the other way round. So no two
// moves of a box cross next to it.
func (l *layout) place() {
	for _, m := range l.moves {
		if m.lane == nil {
			continue
		}
		for _, b := range []*box{m.from, m.to} {
			side := &b.right
			if m.lane.left {
				side = &b.left
			}
			if !slices.Contains(*side, m.lane) {
				*side = append(*side, m.lane)
			}
		}
	}
	y := float64(margin)
	for _, b := range l.boxes {
		rank := func(o *lane) int {
			if o.to == b {
				return -1 << 20
			}
			return -o.at
		}
		slices.SortStableFunc(b.right, func(a, o *lane) int { return rank(a) - rank(o) })
		slices.SortStableFunc(b.left, func(a, o *lane) int { return rank(o) - rank(a) })
		b.y, b.h = y, max(minHeight, float64(24+15*len(b.lines)), portGap*float64(1+max(len(b.left), len(b.right))))
		y += b.h + rowGap
	}
	side := func(lanes int) float64 {
		if lanes == 0 {
			return margin
		}
		return margin + labelRoom + laneGap*float64(lanes)
	}
	l.x = side(l.lefts)
	l.width, l.height = l.x+boxWidth+side(l.rights), y-rowGap+margin
}

// port returns where a lane meets a box.
func (l *layout) port(b *box, of *lane) (x, y float64) {
	x, ports := l.x+boxWidth, b.right
	if of.left {
		x, ports = l.x, b.left
	}
	return x, b.y + b.h*float64(slices.Index(ports, of)+1)/float64(len(ports)+1)
}

// line returns the place of a lane.
func (l *layout) line(of *lane) float64 {
	if off := labelRoom + laneGap*float64(of.at); of.left {
		return l.x - off
	} else {
		return l.x + boxWidth + off
	}
}

// order returns the states from the top down: the initial one, the others as their author wrote
// them, and the final ones.
func order(d *Definition) []State {
	rank := func(s State) int {
		switch {
		case s.Name == d.Initial:
			return 0
		case s.Kind == Final:
			return 2
		}
		return 1
	}
	states := slices.Clone(d.States)
	slices.SortStableFunc(states, func(a, b State) int { return rank(a) - rank(b) })
	return states
}

// broken breaks a long name after a "_" or "-".
func broken(name string) (lines []string) {
	line := ""
	for _, part := range strings.SplitAfter(strings.ReplaceAll(name, "-", "-_"), "_") {
		part = strings.ReplaceAll(part, "-_", "-")
		if line != "" && len(line)+len(part) > nameWidth {
			lines, line = append(lines, line), ""
		}
		line += part
	}
	return append(lines, line)
}
