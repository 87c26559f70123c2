package term

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table aligns rows in columns. Call Print after the last Row.
type Table struct {
	env  *Env
	rows [][]Cell
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
	return &Table{e, [][]Cell{cells}}
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
