package clis

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// table is program × case.
type table struct {
	mu         sync.Mutex
	rows, cols []string
	cells      map[[2]string]string
}

func newTable() *table { return &table{cells: map[[2]string]string{}} }

func (b *table) add(row, col string, s sighting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.rows, row) {
		b.rows = append(b.rows, row)
	}
	if !slices.Contains(b.cols, col) {
		b.cols = append(b.cols, col)
	}
	text := s.outcome
	if s.note != "" {
		text = s.note
	}
	if !s.ok {
		text = "**" + text + "**"
	}
	b.cells[[2]string{row, col}] = fmt.Sprintf("%s, %.0f s", text, s.took.Round(time.Second).Seconds())
}

// write prints the table, and writes it to a file as Markdown.
func (b *table) write(t *testing.T, path string) {
	slices.Sort(b.cols)
	var text strings.Builder
	fmt.Fprintf(&text, "| case | %s |\n|%s\n", strings.Join(b.cols, " | "), strings.Repeat("---|", len(b.cols)+1))
	for _, row := range b.rows {
		cells := []string{row}
		for _, col := range b.cols {
			cells = append(cells, b.cells[[2]string{row, col}])
		}
		fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | "))
	}
	if len(b.cells) == 0 {
		return
	}
	fmt.Fprint(os.Stdout, "\n"+text.String())
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Error(err)
	}
}
