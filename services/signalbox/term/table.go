package term

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Table aligns rows in columns. Call Print after the last Row.
type Table struct {
	env    *Env
	rows   [][]Cell
	narrow []string // columns that are cut where the terminal is too narrow, the first one first
}

// Cell is a text with a style.
type Cell struct {
	Style Style
	Text  string
}

// Table starts a table with a header in faint capitals.
func (e *Env) Table(header ...string) *Table {
	cells := make([]Cell, len(header))
	for i, name := range header {
		cells[i] = Cell{Faint, strings.ToUpper(name)}
	}
	return &Table{env: e, rows: [][]Cell{cells}}
}

// Narrow names the columns that may be cut where the terminal is too narrow, the first one
// first. Columns without any text are left out before.
func (t *Table) Narrow(columns ...string) *Table {
	t.narrow = columns
	return t
}

// Row adds a row. A Cell keeps its style; other values have none.
func (t *Table) Row(cells ...any) {
	row := make([]Cell, len(cells))
	for i, c := range cells {
		cell, ok := c.(Cell)
		if !ok {
			cell = Cell{Plain, fmt.Sprint(c)}
		}
		cell.Text = Line(cell.Text)
		row[i] = cell
	}
	t.rows = append(t.rows, row)
}

// Print writes the table to the environment's Stdout.
func (t *Table) Print() error {
	if t.env.Width > 0 && len(t.narrow) > 0 {
		t.fit()
	}
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		texts := make([]string, len(row))
		for i, c := range row {
			texts[i] = c.Text
			// An empty cell is painted too: all cells of a column have to grow by
			// the same bytes. The last column is not padded, and may stay empty.
			if t.env.Colour && (c.Text != "" || i < len(row)-1) {
				texts[i] = c.Style.on(c.Text)
			}
		}
		fmt.Fprintln(w, strings.Join(texts, "\t"))
	}
	_ = w.Flush() // a Builder takes everything
	for line := range strings.Lines(aligned.String()) {
		if _, err := fmt.Fprintln(t.env.Stdout, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// Widths of the layout, in characters.
const (
	gap      = 2
	minWidth = 6 // to which a column is cut at most
)

// fit leaves out columns without text, and cuts others, until a row fits the terminal.
func (t *Table) fit() {
	excess := t.width() - t.env.Width
	for i := len(t.rows[0]) - 1; i >= 0 && excess > 0; i-- {
		if t.empty(i) {
			for r, row := range t.rows {
				t.rows[r] = slices.Delete(slices.Clone(row), i, i+1)
			}
			excess = t.width() - t.env.Width
		}
	}
	for _, name := range t.narrow {
		i := slices.IndexFunc(t.rows[0], func(c Cell) bool { return strings.EqualFold(c.Text, name) })
		if i < 0 || excess <= 0 {
			continue
		}
		to := max(t.columnWidth(i)-excess, minWidth)
		for _, row := range t.rows {
			row[i].Text = Cut(row[i].Text, to)
		}
		excess = t.width() - t.env.Width
	}
}

// width returns the width of a row.
func (t *Table) width() int {
	n := -gap
	for i := range t.rows[0] {
		n += t.columnWidth(i) + gap
	}
	return n
}

func (t *Table) columnWidth(i int) (n int) {
	for _, row := range t.rows {
		n = max(n, utf8.RuneCountInString(row[i].Text))
	}
	return n
}

// empty reports whether a column has no text but its header.
func (t *Table) empty(i int) bool {
	return !slices.ContainsFunc(t.rows[1:], func(row []Cell) bool { return row[i].Text != "" })
}

// Cut returns s cut to a number of characters; the last is then an ellipsis.
func Cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimRight(string(r[:max(n-1, 0)]), " ") + "…"
	}
	return s
}
