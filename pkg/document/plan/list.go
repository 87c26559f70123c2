package plan

import (
	"github.com/yuin/goldmark/ast"
	task "github.com/yuin/goldmark/extension/ast"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// list reads a list of tasks: "- [ ] ID: title (after A, B)". The lines below one
// describe it, and one that is ticked off is done.
func (p page) list() {
	for block := p.doc.FirstChild(); block != nil; block = block.NextSibling() {
		if block.Kind() != ast.KindList {
			continue
		}
		for n := block.FirstChild(); n != nil; n = n.NextSibling() {
			p.entry(n)
		}
	}
}

var tick = lazyregexp.New(`^\[[ xX]\]\s*`)

var after = lazyregexp.New(`(?i)\s*\((?:comes )?after:?\s+([^()]+)\)\s*$`)

func (p page) entry(n ast.Node) {
	first := n.FirstChild()
	if first == nil || first.FirstChild() == nil {
		return
	}
	box, ok := first.FirstChild().(*task.TaskCheckBox)
	if !ok {
		return
	}
	at := p.at(n.Pos())
	words := tick.ReplaceAllString(p.line(first), "")
	it := item{Task: Task{Line: at}, done: box.IsChecked}
	if m := after.FindStringSubmatch(words); m != nil {
		it.needs, words = needs(m[1], at), after.ReplaceAllString(words, "")
	}
	m := titled.FindStringSubmatch(words)
	if m == nil {
		p.problem(at, "%q names no task: want \"- [ ] ID: title\"", words)
		return
	}
	it.ID, it.Title = m[1], m[2]
	said := map[int]bool{}
	for below := first.NextSibling(); below != nil; below = below.NextSibling() {
		p.facts(&it, below, said)
	}
	if first.NextSibling() != nil {
		it.Description = p.body(p.after(first), p.next(n), said)
	}
	p.items = append(p.items, it)
}

// next is where an item of a list ends: where what follows it begins.
func (p page) next(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if follows := n.NextSibling(); follows != nil {
			return p.start(follows.Pos())
		}
	}
	return len(p.src)
}
