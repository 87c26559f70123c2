package sanitize

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// addressed returns for each offset whether GitHub takes the byte there for a part of an
// address that has begun before. There an address ends at white space of ASCII or at <, whatever
// other characters it has.
func addressed(s string) []bool {
	all, in := make([]bool, len(s)+1), false
	for i := range len(s) {
		all[i] = in
		switch {
		case strings.IndexByte(" \t\n\v\f\r<", s[i]) >= 0:
			in = false
		case strings.HasSuffix(s[:i+1], "://") || strings.EqualFold(s[max(0, i-3):i+1], "www."):
			in = true
		}
	}
	all[len(s)] = in
	return all
}

// backticks escapes those of a part of the source that is text. GitHub's parser does not find
// all the code that follows a backtick which opens none.
func (p *page) backticks(from, to int) {
	for i := from; i < to; i++ {
		if p.src[i] == '`' && !p.escaped(i) {
			p.edit("code", i, i, `\`)
		}
	}
}

// opening separates the beginning of code from the address that stands before it.
func (p *page) opening(n *ast.CodeSpan) {
	first, ok := n.FirstChild().(*ast.Text)
	if !ok {
		return
	}
	at := first.Segment.Start
	for at > 0 && p.src[at-1] != '`' { // a renderer takes off a space, or the end of a line
		at--
	}
	for at > 0 && p.src[at-1] == '`' {
		at--
	}
	if p.inAddress(at) {
		p.edit("code", at, at, " ")
	}
}

func (p *page) inAddress(at int) bool { return at < len(p.inside) && p.inside[at] }
