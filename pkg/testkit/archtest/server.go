package archtest

import "go/ast"

// servers reports HTTP servers that are made elsewhere than in pkg/service/httpserver, which
// gives each its limits. Tests may make any.
func servers(t *tree) []Violation {
	return t.inspect("servers", func(f *file, node ast.Node) string {
		if f.test || f.dir == "pkg/service/httpserver" || !serves(node) {
			return ""
		}
		return "only pkg/service/httpserver makes servers: they have limits of time, size and number there"
	})
}

// serves reports whether node makes an http.Server, or serves with one that has no limits.
func serves(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.CompositeLit:
		s, ok := n.Type.(*ast.SelectorExpr)
		return ok && isPackage(s.X, "http") && s.Sel.Name == "Server"
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || !isPackage(s.X, "http") {
			return false
		}
		switch s.Sel.Name {
		case "ListenAndServe", "ListenAndServeTLS", "Serve", "ServeTLS":
			return true
		}
	}
	return false
}
