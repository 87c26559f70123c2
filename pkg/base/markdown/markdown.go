// Package markdown parses Markdown that strangers wrote, in bounded time.
//
// The parser takes time that grows with the square of some inputs: 65,000 nested quotes
// take seconds. Parse estimates the cost first and refuses such a text. All other packages
// parse through this one.
package markdown

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// ErrComplex is the error of a text that would take too long to parse.
var ErrComplex = errors.New("the Markdown is too complex")

// The limits of a text. Issues, comments and plans of people are far below them.
const (
	maxCells   = 200_000 // cells of tables, with those that the parser adds to short rows
	maxColumns = 200     // of a table
)

// limit bounds the time to parse a text.
type limit struct {
	depth int // quotes and lists within each other
	cost  int // see chunk.cost
}

var (
	ofOne = limit{depth: 32, cost: 30_000_000}  // about 0.1 s
	ofAll = limit{depth: 40, cost: 150_000_000} // about 0.5 s
)

// Parse parses GitHub Flavored Markdown. The error is ErrComplex, with the reason.
func Parse(source []byte) (ast.Node, error) { return parse(source, extension.GFM, ofOne) }

// ParseComposed parses a text that was made of several which Parse has parsed. It may be
// more complex than each of them.
func ParseComposed(source []byte) (ast.Node, error) { return parse(source, extension.GFM, ofAll) }

// ParseTasks parses CommonMark with task lists. The error is ErrComplex, with the reason.
func ParseTasks(source []byte) (ast.Node, error) { return parse(source, extension.TaskList, ofOne) }

func parse(source []byte, extensions goldmark.Extender, most limit) (ast.Node, error) {
	if err := bounded(source, most); err != nil {
		return nil, err
	}
	return goldmark.New(goldmark.WithExtensions(extensions)).Parser().Parse(text.NewReader(source)), nil
}

// bounded reports whether a text can be parsed in bounded time. It takes time that grows
// linearly with the text.
func bounded(source []byte, most limit) error {
	c := chunk{}
	spent := 0
	columns, rows := 0, 0
	for line := range bytes.Lines(source) {
		if depth(line) > most.depth {
			return fmt.Errorf("%w: quotes and lists are nested more than %d deep", ErrComplex, most.depth)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			spent += c.cost()
			c = chunk{}
			columns, rows = 0, 0
			continue
		}
		c.add(line)
		columns = max(columns, bytes.Count(line, []byte("|")))
		if rows++; columns > maxColumns && rows > 1 || columns*rows > maxCells {
			return fmt.Errorf("%w: a table has more than %d columns, or %d cells", ErrComplex, maxColumns, maxCells)
		}
		if spent+c.cost() > most.cost {
			return fmt.Errorf("%w: a paragraph has too many links or emphases", ErrComplex)
		}
	}
	return nil
}

// chunk counts what makes a paragraph slow to parse. Blank lines end paragraphs, so a chunk
// is the text between blank lines. It may hold several blocks, and then costs less.
type chunk struct {
	size       int // bytes
	links      int // beginnings of a link's address
	delimiters int // runs of emphasis
	references int // beginnings of definitions
	brackets   int // opening brackets
}

func (c *chunk) add(line []byte) {
	c.size += len(line)
	var before byte
	for _, b := range line {
		switch {
		case b == '(' && before == ']':
			c.links++
		case b == ':' && before == ']':
			c.references++
		case b == '[':
			c.brackets++
		case (b == '*' || b == '_' || b == '~') && b != before:
			c.delimiters++
		}
		before = b
	}
}

// cost estimates the time to parse the chunk, in units of about 3 ns. It was fitted to the
// slowest inputs known, each of 64,000 bytes.
func (c *chunk) cost() int {
	return c.size*(c.links+c.references/16+c.brackets/64) + c.delimiters*c.delimiters/2
}

// depth counts the marks of quotes and of list items that a line begins with.
// The item of a list within a list is indented by at least two columns.
func depth(line []byte) (n int) {
	spaces := 0
	for i := 0; i < len(line); {
		switch b := line[i]; {
		case b == ' ' || b == '\t':
			i++
			spaces++
			continue
		case b == '>':
			i++
		case b == '-' || b == '*' || b == '+':
			if i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' {
				return n
			}
			i++
		case b >= '0' && b <= '9':
			end := i
			for end < len(line) && line[end] >= '0' && line[end] <= '9' {
				end++
			}
			if end == len(line) || line[end] != '.' && line[end] != ')' {
				return n
			}
			i = end + 1
		default:
			return n
		}
		n = max(n, spaces/2) + 1
	}
	return n
}
