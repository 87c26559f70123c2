package plan

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/markdown"
)

// page is a plan in Markdown: its source and what that means.
type page struct {
	*draft
	src []byte
	doc ast.Node
}

// markdown reads sections "## ID: Title", or, where there are none, the list of
// tasks. The first heading is the plan's title.
func (d *draft) markdown(src []byte) {
	src = bytes.ReplaceAll(bytes.TrimPrefix(src, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	doc, err := markdown.ParseTasks(src)
	if err != nil {
		d.problem(1, "%v: split it into files, or write it as YAML", err)
		return
	}
	p := page{d, src, doc}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		if _, _, is := p.head(h); is {
			p.section(h)
		} else if d.title == "" {
			d.title = p.line(h)
		}
	}
	if len(d.items) == 0 {
		p.list()
	}
}

// titled is what names a task: its id, and its title.
var titled = lazyregexp.New(`^([^\s:]+):\s+(\S.*)$`)

// head is the task that a heading begins, if it does.
func (p page) head(h *ast.Heading) (id, title string, is bool) {
	m := titled.FindStringSubmatch(p.line(h))
	if h.Level != 2 || m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// section reads the task under a heading: all up to the next one of its rank.
func (p page) section(h *ast.Heading) {
	id, title, _ := p.head(h)
	it := item{Task: Task{ID: id, Title: title, Line: p.at(h.Pos())}}
	end, said := len(p.src), map[int]bool{}
	for n := h.NextSibling(); n != nil; n = n.NextSibling() {
		if next, ok := n.(*ast.Heading); ok && next.Level <= h.Level {
			end = p.start(next.Pos())
			break
		}
		p.facts(&it, n, said)
	}
	it.Description = p.body(p.after(h), end, said)
	p.items = append(p.items, it)
}

var (
	dependsOn = lazyregexp.New(`(?i)^[*_]*depends on\s*[*_]*:[*_]*\s*(.*?)\.?$`)
	priority  = lazyregexp.New(`(?i)^[*_]*priority\s*[*_]*:[*_]*\s*(.*?)\.?$`)
	nothing   = lazyregexp.New(`(?i)^(none|nothing|-|–|—|)$`)
	between   = lazyregexp.New(`\s*(?:,|;|\s+and\s+)\s*`)
)

// facts reads the lines of prose that say something of the task itself, and
// notes where they are: the description goes without them.
func (p page) facts(it *item, block ast.Node, said map[int]bool) {
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() == ast.TypeInline || n.Kind() != ast.KindParagraph && n.Kind() != ast.KindTextBlock {
			return ast.WalkContinue, nil
		}
		for i := range n.Lines().Len() {
			segment := n.Lines().At(i)
			words, at := strings.TrimSpace(string(segment.Value(p.src))), p.at(segment.Start)
			if m := dependsOn.FindStringSubmatch(words); m != nil {
				it.needs, said[at] = append(it.needs, needs(m[1], at)...), true
			} else if m := priority.FindStringSubmatch(words); m != nil {
				n, err := strconv.Atoi(m[1])
				if err != nil {
					p.problem(at, "task %s: priority %q is no number", it.ID, m[1])
				}
				it.Priority, it.given, said[at] = n, true, true
			}
		}
		return ast.WalkContinue, nil
	})
}

// needs reads a list of ids.
func needs(list string, line int) (all []need) {
	for _, id := range between.Split(strings.TrimSpace(list), -1) {
		if id = strings.Trim(id, "`*_ "); !nothing.MatchString(id) {
			all = append(all, need{id, line})
		}
	}
	return all
}
