package workflow

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
)

// SVG draws the definition's table. A state is a box in its owner's colour, with a double
// border if it is final. A move is a curve, dashed where the source does not have it. A
// state's group has the id "state-NAME" and its kind as class, so that a page can point at
// where an instance is.
func SVG(d *Definition) []byte { return SVGOf(d, Path{}) }

// Path is the way of one instance through its lifecycle.
type Path struct {
	Here  string            // the state that it is in; empty: none is marked
	Moves map[[2]string]int // how often it moved, by from and to
}

// SVGOf is SVG with the path of an instance: the state that it is in has the class "here", a
// state that it has left "left", and a move that it made "made". A page chooses how they look.
func SVGOf(d *Definition, path Path) []byte {
	l := newLayout(d)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="DejaVu Sans Mono, Menlo, monospace" font-size="12">
<title>%s</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>
<rect width="100%%" height="100%%" fill="#fff"/>
<g class="moves" fill="none" stroke-width="1.2" marker-end="url(#tip)">
`, l.width, l.height, html.EscapeString(d.Name))
	for _, e := range l.edges {
		e.draw(&b, path.Moves[[2]string{e.path[0].state.Name, e.To}])
	}
	b.WriteString("</g>\n")
	roles := d.Roles()
	for _, s := range d.States {
		l.boxes[s.Name].draw(&b, slices.Index(roles, s.Owner), s.Name == d.Initial, path.class(s.Name))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// class returns the class of a state on the path, after a space; "" for one that is not on it.
func (p Path) class(state string) string {
	if state == p.Here {
		return " here"
	}
	for move := range p.Moves {
		if move[0] == state {
			return " left"
		}
	}
	return ""
}

// draw draws the move, which an instance made so often.
func (e edge) draw(b *bytes.Buffer, made int) {
	from, to := e.path[0], e.path[len(e.path)-1]
	stroke, dash := "#667", ""
	switch {
	case to.state.Kind == Final:
		stroke = "#bbb"
	case to.column <= from.column:
		stroke = "#c77" // a move back
	}
	title := from.state.Name + " → " + e.To
	if from.state.byItself(e.To) {
		title += " (by itself)"
	}
	if e.Added != "" {
		dash = ` stroke-dasharray="5 4"`
		title += " (added: " + e.Added + ")"
	}
	class := ""
	if made > 0 {
		class = `class="made" `
		title += fmt.Sprintf(" (made %d×)", made)
	}
	b.WriteString(`<path ` + class + `d="`)
	for i, n := range e.path[:len(e.path)-1] {
		next := e.path[i+1]
		x1, y1 := n.end(next, true)
		x2, y2 := next.end(n, false)
		bend := (x2 - x1) / 2
		out, in := x1+bend, x2-bend
		if n.column == next.column {
			out, in = x1+columnGap/2, x2+columnGap/2
		}
		verb := "M"
		if i > 0 {
			verb = "L"
		}
		fmt.Fprintf(b, "%s%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f", verb, x1, y1, out, y1, in, y2, x2, y2)
	}
	fmt.Fprintf(b, `" stroke="%s"%s><title>%s</title></path>`+"\n", stroke, dash, html.EscapeString(title))
}

func (n *node) draw(b *bytes.Buffer, role int, initial bool, class string) {
	s := n.state
	fill, border := "#eee", 1.0
	switch s.Kind {
	case Final:
		fill = "#fff"
	case Work:
		fill = colour(role)
	}
	if initial {
		border = 2.5
	}
	fmt.Fprintf(b, `<g id="state-%s" class="state %s%s"><title>%s</title><rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="7" fill="%s" stroke="#333" stroke-width="%.1f"/>`,
		s.Name, s.Kind, class, html.EscapeString(s.caption()), n.x, n.y, n.w, n.h, fill, border)
	if s.Kind == Final {
		fmt.Fprintf(b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="5" fill="none" stroke="#333"/>`, n.x+3, n.y+3, n.w-6, n.h-6)
	}
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" text-anchor="middle">%s<tspan x="%.0f" dy="15" fill="#666" font-size="11">%s</tspan></text></g>`+"\n",
		n.x+n.w/2, n.middle()-2, s.Name, n.x+n.w/2, s.under())
}

// under is what a box says under the state's name: who works there, for how long.
func (s State) under() string {
	switch s.Kind {
	case Final:
		return "final"
	case Wait:
		return s.timed("waits")
	}
	return s.timed(s.Owner)
}

// caption is what a box says when it is pointed at.
func (s State) caption() string {
	return strings.TrimPrefix(strings.Join(append([]string{s.About}, s.notes()...), " · "), " · ")
}
