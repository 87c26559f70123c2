package yamltext

import "github.com/goccy/go-yaml/ast"

// Start returns the node whose token is where n starts in the text: of a block mapping, its
// first key.
func Start(n ast.Node) ast.Node {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return m.Values[0].Key
	}
	return n
}

// Fault is why Entries does not pass an entry on.
type Fault int

// The faults of an entry.
const (
	NoName  Fault = iota // the key is no text
	Twice                // the key was there before
	NoValue              // the value is missing or null
)

// Entries calls each for every key of a mapping once, in the order of the text. It calls
// wrong, with the node of the key, for every other entry. It reports whether n is a mapping.
func Entries(n ast.Node, each func(key *ast.StringNode, value ast.Node), wrong func(key ast.Node, fault Fault)) bool {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return false
	}
	seen := map[string]bool{}
	for _, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		_, null := v.Value.(*ast.NullNode)
		switch {
		case !ok:
			wrong(v.Key, NoName)
		case seen[key.Value]:
			wrong(key, Twice)
		case v.Value == nil || null:
			wrong(key, NoValue)
		default:
			seen[key.Value] = true
			each(key, v.Value)
		}
	}
	return true
}
