package prompt

import (
	"crypto/rand"
	"text/template/parse"

	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Verify returns what is wrong with a template, with its file and line: it does not parse,
// speaks of what there is not, runs too long or writes too much. All branches are tried,
// on the example and on an empty assignment.
func Verify(t work.Template) error {
	role, state, _ := cutName(t.Name)
	p := &page{mark: rand.Text(), entries: many}
	all, err := compile(t, p)
	if err != nil {
		return err
	}
	for _, one := range all.Templates() {
		if one.Tree != nil && one.Root != nil {
			one.Root = &parse.ListNode{NodeType: parse.NodeList, Pos: one.Root.Pos, Nodes: flat(one.Root)}
		}
	}
	if err := all.Execute(p, data(Example(role, state), false, p)); err != nil {
		return place(t, err)
	}
	for _, a := range []work.Assignment{Example(role, state), {Role: role, State: state}} {
		if _, err := execute(t, a, false); err != nil {
			return err
		}
	}
	return nil
}

// flat returns the nodes of a part so that all its branches are executed, one behind the
// other.
func flat(l *parse.ListNode) (nodes []parse.Node) {
	if l == nil {
		return nil
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.IfNode:
			list, other := flat(n.List), flat(n.ElseList)
			if len(n.Pipe.Decl) > 0 { // the variables are of what follows
				nodes = append(nodes, &parse.ActionNode{NodeType: parse.NodeAction, Pos: n.Pos, Line: n.Line, Pipe: n.Pipe})
			} else {
				n.List, n.ElseList = &parse.ListNode{NodeType: parse.NodeList, Pos: n.Pos}, nil
				nodes = append(nodes, n)
			}
			nodes = append(append(nodes, list...), other...)
		case *parse.BreakNode, *parse.ContinueNode:
		default:
			nodes = append(nodes, n)
			if b := branch(n); b != nil {
				nodes = append(nodes, flat(b.ElseList)...)
				b.List.Nodes, b.ElseList = flat(b.List), nil
			}
		}
	}
	return nodes
}
