package workflow

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// SVG draws the definition's table: the states in one column from the initial one downwards, moves
// down on the right and moves up on the left. Moves into one state share a line. A state has its
// owner's colour, and a double border if it is final; a move that the source does not have is
// dashed. A state's group has the id "state-NAME" and its kind as class, so that a page can point
// at where an instance is.
func SVG(d *Definition) []byte { return SVGOf(d, Marks{}) }

// Marks is what a drawing shows in addition to the table: where instances are, and how they move.
type Marks struct {
	States map[string]StateMark
	Moves  map[[2]string]MoveMark // by from and to
	Label  string                 // names the drawing for those who do not see it; empty: the lifecycle's name
}

// StateMark is the mark of a state.
type StateMark struct {
	Class string // in addition to the kind: "here", "left"; a page chooses how it looks
	Count string // in the corner of its box; empty: nothing
	Says  string // in place of its owner; empty: its owner
	Link  string // it leads there; empty: nowhere
	Title string // for those who point at it or do not see it, after its name
}

// MoveMark is the mark of a move that was made.
type MoveMark struct {
	Label string // at its beginning; few characters
	Title string
}

// SVGOf is SVG with marks. A marked move has the class "made".
func SVGOf(d *Definition, marks Marks) []byte {
	l := newLayout(d)
	var b bytes.Buffer
	label := marks.Label
	if label == "" {
		label = d.Name
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="group" aria-label="%s" font-family="DejaVu Sans Mono, Menlo, monospace" font-size="12">
<title>%s</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker><marker id="tip-made" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="5" markerHeight="5" orient="auto"><path d="M0 0 8 4 0 8z" fill="#2162bc"/></marker></defs>
<rect width="100%%" height="100%%" fill="#fff"/>
`, l.width, l.height, l.width, l.height, html.EscapeString(label), html.EscapeString(d.Name))
	roles := d.Roles()
	for _, s := range l.boxes { // a state and the moves out of it are one group, so that a page can light them together
		fmt.Fprintf(&b, `<g id="state-%s" class="%s"><g class="moves" fill="none">`, s.state.Name, strings.TrimSpace("state "+string(s.state.Kind)+" "+marks.States[s.state.Name].Class))
		l.drawMoves(&b, s, marks, false)
		b.WriteString("</g>")
		s.draw(&b, l.x, slices.Index(roles, s.state.Owner), s.state.Name == d.Initial, marks.States[s.state.Name])
		b.WriteString("</g>\n")
	}
	b.WriteString(`<g class="moves" fill="none">`)
	for _, s := range l.boxes {
		l.drawMoves(&b, s, marks, true)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

// drawMoves draws the moves out of a state that are marked, or those that are not.
func (l *layout) drawMoves(b *bytes.Buffer, of *box, marks Marks, made bool) {
	for _, m := range l.moves {
		if mark, ok := marks.Moves[[2]string{m.from.state.Name, m.To}]; ok == made && m.from == of {
			l.draw(b, m, mark, made)
		}
	}
}

func (l *layout) draw(b *bytes.Buffer, m move, mark MoveMark, made bool) {
	stroke, width, tip, class, dash := "#667", 1.1, "tip", "", ""
	switch {
	case made:
		stroke, width, tip, class = "#2162bc", 2.2, "tip-made", ` class="made"`
	case m.to.state.Kind == Final:
		stroke = "#bbb"
	case m.to.row <= m.from.row:
		stroke = "#c77"
	}
	title := m.from.state.Name + " → " + m.To
	if m.from.state.byItself(m.To) {
		title += " (by itself)"
	}
	if m.Added != "" {
		dash = ` stroke-dasharray="5 4"`
		title += " (added: " + m.Added + ")"
	}
	if mark.Title != "" {
		title += ": " + mark.Title
	}
	path, x, y := l.path(m)
	fmt.Fprintf(b, `<path%s d="%s" stroke="%s" stroke-width="%.1f" marker-end="url(#%s)"%s><title>%s</title></path>`+"\n",
		class, path, stroke, width, tip, dash, html.EscapeString(title))
	if mark.Label != "" {
		anchor := ""
		if m.lane != nil && m.lane.left {
			anchor = ` text-anchor="end"`
		}
		fmt.Fprintf(b, `<text class="label" x="%.0f" y="%.1f" font-size="9.5" fill="#2162bc"%s>%s</text>`+"\n", x, y, anchor, html.EscapeString(mark.Label))
	}
}

// path returns the line of a move, and where its label begins.
func (l *layout) path(m move) (path string, x, y float64) {
	centre := l.x + boxWidth/2
	switch {
	case m.from == m.to: // a loop below the box
		bottom := m.from.y + m.from.h
		return fmt.Sprintf("M%.0f %.1fv8q0 6 6 6h12q6 0 6-6v-8", centre+40, bottom), centre + 68, bottom + 13
	case m.lane == nil:
		bottom := m.from.y + m.from.h
		return fmt.Sprintf("M%.0f %.1fV%.1f", centre, bottom, m.to.y), centre + 5, bottom + 17
	}
	x1, y1 := l.port(m.from, m.lane)
	x2, y2 := l.port(m.to, m.lane)
	at, bend := l.line(m.lane), 6.0
	turn := math.Copysign(bend, y2-y1)
	side := math.Copysign(bend, at-x1)
	return fmt.Sprintf("M%.0f %.1fH%.0fQ%.0f %.1f %.0f %.1fV%.1fQ%.0f %.1f %.0f %.1fH%.0f", x1, y1, at-side, at, y1, at, y1+turn, y2-turn, at, y2, at-side, y2, x2),
		x1 + math.Copysign(4, at-x1), y1 - 2.5
}

// draw draws a box. A state that leads somewhere is a link.
func (s *box) draw(b *bytes.Buffer, x float64, role int, initial bool, mark StateMark) {
	fill, border := "#eee", 1.0
	switch s.state.Kind {
	case Final:
		fill = "#fff"
	case Work:
		fill = colour(role)
	}
	if initial {
		border = 2.5
	}
	caption := s.state.caption()
	if mark.Title != "" {
		caption = s.state.Name + ", " + mark.Title + " · " + caption
	}
	if mark.Link != "" {
		fmt.Fprintf(b, `<a href="%s">`, html.EscapeString(mark.Link))
	}
	fmt.Fprintf(b, `<title>%s</title><rect x="%.0f" y="%.1f" width="%d" height="%.1f" rx="7" fill="%s" stroke="#333" stroke-width="%.1f"/>`,
		html.EscapeString(caption), x, s.y, boxWidth, s.h, fill, border)
	if s.state.Kind == Final {
		fmt.Fprintf(b, `<rect x="%.0f" y="%.1f" width="%d" height="%.1f" rx="5" fill="none" stroke="#333"/>`, x+3, s.y+3, boxWidth-6, s.h-6)
	}
	says, middle := mark.Says, x+boxWidth/2
	if says == "" {
		says = s.state.under()
	}
	fmt.Fprintf(b, `<text x="%.0f" y="%.1f" text-anchor="middle">`, middle, s.middle()+4-7.5*float64(len(s.lines)))
	for i, line := range s.lines {
		if i > 0 {
			fmt.Fprintf(b, `<tspan class="name" x="%.0f" dy="14">%s</tspan>`, middle, line)
		} else {
			b.WriteString(line)
		}
	}
	fmt.Fprintf(b, `<tspan x="%.0f" dy="15" fill="#666" font-size="11">%s</tspan></text>`, middle, html.EscapeString(says))
	if mark.Count != "" {
		w := float64(12 + 8*len(mark.Count))
		fmt.Fprintf(b, `<g class="count"><rect x="%.1f" y="%.1f" width="%.0f" height="18" rx="9" fill="#2162bc"/><text x="%.1f" y="%.1f" text-anchor="middle" fill="#fff" font-weight="700">%s</text></g>`,
			x+boxWidth-w+6, s.y-8, w, x+boxWidth-w/2+6, s.y+5.3, html.EscapeString(mark.Count))
	}
	if mark.Link != "" {
		b.WriteString("</a>")
	}
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
