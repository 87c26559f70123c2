package plan

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// at is the line of an offset.
func (p page) at(offset int) int {
	return 1 + bytes.Count(p.src[:min(max(offset, 0), len(p.src))], []byte("\n"))
}

// start is the offset at which the line of an offset begins.
func (p page) start(offset int) int {
	return 1 + bytes.LastIndexByte(p.src[:min(max(offset, 0), len(p.src))], '\n')
}

// line is a block's text as it was written, on one line.
func (p page) line(block ast.Node) string {
	var b strings.Builder
	for i := range block.Lines().Len() {
		segment := block.Lines().At(i)
		b.Write(segment.Value(p.src))
		b.WriteByte(' ')
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// after is the offset behind a block's last line, and behind what underlines it.
func (p page) after(block ast.Node) int {
	end := p.start(block.Pos())
	if n := block.Lines().Len(); n > 0 {
		segment := block.Lines().At(n - 1)
		end = max(segment.Start, segment.Stop-1)
	}
	end = p.behind(end)
	if h, ok := block.(*ast.Heading); ok && !bytes.HasPrefix(bytes.TrimSpace(p.src[p.start(h.Pos()):]), []byte("#")) {
		end = p.behind(end)
	}
	return end
}

func (p page) behind(offset int) int {
	if i := bytes.IndexByte(p.src[min(offset, len(p.src)):], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(p.src)
}

// body is the text between two offsets without the lines that are said, as far
// to the left as it goes.
func (p page) body(from, to int, said map[int]bool) string {
	if from >= to {
		return ""
	}
	var kept []string
	indent := -1
	for i, line := range strings.Split(string(p.src[from:to]), "\n") {
		if said[p.at(from)+i] {
			continue
		}
		line = strings.TrimRight(line, " \t")
		if line != "" {
			if n := len(line) - len(strings.TrimLeft(line, " ")); indent < 0 || n < indent {
				indent = n
			}
		}
		kept = append(kept, line)
	}
	for i, line := range kept {
		kept[i] = line[min(max(indent, 0), len(line)):]
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
}
