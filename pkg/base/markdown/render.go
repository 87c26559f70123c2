package markdown

import (
	"bytes"
	"html"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// HTML renders GitHub Flavored Markdown. The result loads nothing and runs nothing: an image
// becomes a link to it, and raw HTML its source, but for the tags of harmless. The error is
// ErrComplex, with the reason.
func HTML(source []byte) (string, error) {
	if err := bounded(source, ofOne); err != nil {
		return "", err
	}
	m := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(
		renderer.WithNodeRenderers(util.Prioritized(inert{}, 1))))
	doc := m.Parser().Parse(text.NewReader(source))
	var out bytes.Buffer
	if err := m.Renderer().Render(&out, source, doc); err != nil {
		return "", err
	}
	return out.String(), nil
}

// inert renders the nodes that could load or run something.
type inert struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (inert) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	to.Register(ast.KindImage, image)
	to.Register(ast.KindRawHTML, rawHTML)
	to.Register(ast.KindHTMLBlock, blockHTML)
}

func image(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n, ok := node.(*ast.Image)
	if !ok || goldmarkhtml.IsDangerousURL(n.Destination) {
		return ast.WalkContinue, nil
	}
	if entering {
		_, _ = w.WriteString(`<a rel="noreferrer" href="` + html.EscapeString(string(util.URLEscape(n.Destination, true))) + `">image: `)
	} else {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

func rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n, ok := node.(*ast.RawHTML)
	if ok && entering {
		_, _ = w.WriteString(harmless(n.Segments.Value(source)))
	}
	return ast.WalkSkipChildren, nil
}

func blockHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n, ok := node.(*ast.HTMLBlock)
	switch {
	case !ok:
	case entering:
		_, _ = w.WriteString(harmless(n.Lines().Value(source)))
	case n.HasClosure():
		_, _ = w.WriteString(harmless(n.ClosureLine.Value(source)))
	}
	return ast.WalkContinue, nil
}

// harmless escapes HTML but for a few tags without attributes.
func harmless(source []byte) string {
	return escaped.ReplaceAllString(html.EscapeString(string(source)), "<$1>")
}

// escaped matches a tag of harmless, once HTML is escaped.
var escaped = lazyregexp.New(`&lt;(/?(?:details|summary|sub|sup|kbd|b|i|em|strong|code)|br ?/?)&gt;`)
