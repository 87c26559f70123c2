package archtest

import (
	"go/ast"
	"go/token"
	"strings"
)

// attested is the header in which nats-server names the requester. A client can forge it with
// bytes that the server and the client library parse differently.
const attested = "nats-request-info"

// identity reports code that reads who sent a request from a header. Tests may forge it.
func identity(t *tree) []Violation {
	return t.inspect("identity", func(f *file, node ast.Node) string {
		if f.test || f.dir == "pkg/testkit/archtest" {
			return ""
		}
		switch n := node.(type) {
		case *ast.BasicLit:
			if n.Kind != token.STRING || !strings.Contains(strings.ToLower(n.Value), attested) {
				return ""
			}
		case *ast.SelectorExpr:
			if n.Sel.Name != "ClientInfoHdr" {
				return ""
			}
		default:
			return ""
		}
		return "a header can be forged: access.Entry takes the requester from the subject"
	})
}
