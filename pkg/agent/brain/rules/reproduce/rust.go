package reproduce

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

var crateName = lazyregexp.New(`(?ms)^\[package\]\s*$.*?^name\s*=\s*"([\w-]+)"`)

// rustTest writes an integration test of the crate at the root. The function is public and
// in the crate's root module.
func rustTest(tree fs.FS, r Report, p pair) (Test, bool) {
	m := crateName.FindStringSubmatch(read(tree, "Cargo.toml"))
	name, args := split(p.call)
	if m == nil || strings.Contains(name, ".") || strings.Contains(args, "=") || strings.ContainsAny(args, "'{}") || !literals(args) {
		return Test{}, false
	}
	crate := strings.ReplaceAll(m[1], "-", "_")
	function := name[strings.LastIndexByte(name, ':')+1:]
	if name != function && name != crate+"::"+function {
		return Test{}, false
	}
	signature := lazyregexp.New(`(?m)^pub fn ` + function + `\([^)]*\)\s*->\s*(&'static str|&str|String|bool|char|[iu](?:8|16|32|64|size)|f32|f64)\s*\{`)
	if !signature.MatchString(read(tree, "src/lib.rs")) {
		return Test{}, false
	}
	t := Test{Name: snake(r), Path: free(tree, "tests", "reported_"+snake(r), ".rs")}
	if t.Name[0] >= '0' && t.Name[0] <= '9' {
		t.Name = "issue_" + t.Name
	}
	t.Content = fmt.Sprintf(`/// The report names this call and its right result.
#[test]
fn %s() {
    assert_eq!(%s::%s(%s).to_string(), %s);
}
`, t.Name, crate, function, args, quoteRust(unquoted(p.want)))
	return t, true
}

// quoteRust returns a string literal of Rust.
func quoteRust(s string) string {
	quoted := strconv.QuoteToASCII(s)
	return lazyregexp.New(`\\u([0-9a-f]{4})`).ReplaceAllString(lazyregexp.New(`\\U([0-9a-f]{8})`).ReplaceAllString(quoted, `\u{$1}`), `\u{$1}`)
}
