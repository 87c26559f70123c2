package sanitize

import (
	"bytes"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/markdown"
)

// Bytes that stand in the shown text for what is no text.
const (
	boundary = 0 // the beginning or the end of an element
	code     = 1 // code
)

// page is Markdown that was parsed, and the edits that make it harmless.
type page struct {
	src   string
	line  bool // it is put within a line
	edits []edit

	// prose is the source in which code is replaced by the byte code, but for ends of lines.
	prose []byte
	// links is which bytes of the source are in an address that a forge makes a link of.
	links []bool
	// inside is which bytes of the source GitHub takes for a part of an address.
	inside []bool
	// covered is which bytes of the source people see, or are known to be no text.
	covered []bool
	// shown is the text that the forge shows, and from is where in the source each byte is from.
	shown []byte
	from  []int
	// entity is which bytes of shown are from a character reference.
	entity []bool
}

// read parses Markdown and finds what is live in it. In a line it permits no block of code.
// The error is markdown.ErrComplex.
func read(src string, line bool) (*page, error) { return readBy(markdown.Parse, src, line) }

func readBy(parse func([]byte) (ast.Node, error), src string, line bool) (*page, error) {
	doc, err := parse([]byte(src))
	if err != nil {
		return &page{}, err
	}
	p := &page{src: src, line: line, prose: []byte(src), links: make([]bool, len(src)), inside: addressed(src), covered: make([]bool, len(src))}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { return p.visit(n, entering), nil }) // the walker has no error
	p.raw()
	p.rendered()
	p.uncovered()
	return p, nil
}

// edit replaces a part of the source. GitHub takes a backslash for a part of the address that it
// stands in, and no escape: a space ends the address first.
func (p *page) edit(rule string, from, to int, with string) {
	if strings.HasPrefix(with, `\`) && p.inAddress(from) {
		with = " " + with
	}
	p.edits = append(p.edits, edit{rule, span{from, to}, with})
}

// visit reads one node.
func (p *page) visit(n ast.Node, entering bool) ast.WalkStatus {
	if n.Type() == ast.TypeBlock {
		p.emit('\n', n.Pos(), false)
	}
	if !entering {
		if n.Type() == ast.TypeInline {
			p.emit(boundary, n.Pos(), false)
		}
		return ast.WalkContinue
	}
	switch n := n.(type) {
	case *ast.Text:
		p.text(n.Segment.Start, n.Segment.Stop)
		if n.SoftLineBreak() || n.HardLineBreak() {
			p.emit('\n', n.Segment.Stop, false)
		}
		return ast.WalkSkipChildren
	case *ast.CodeSpan:
		p.emit(code, n.Pos(), false)
		p.opening(n)
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if piece, ok := c.(*ast.Text); ok {
				p.blank(piece.Segment.Start, piece.Segment.Stop)
			}
		}
		return ast.WalkSkipChildren
	case *ast.FencedCodeBlock:
		p.fence(n)
		p.block(n)
	case *ast.CodeBlock:
		p.block(n)
		p.tabs(n)
	case *ast.AutoLink:
		p.autoLink(n)
	case *ast.Link:
		p.emit(boundary, n.Pos(), false)
		p.link(n)
	case *ast.Image:
		p.emit(boundary, n.Pos(), false)
		p.image(n)
	case *ast.LinkReferenceDefinition:
		p.definition(n)
	case *ast.HTMLBlock:
		p.html(n.Pos(), n.Lines())
	case *ast.RawHTML:
		p.html(n.Pos(), n.Segments)
	case *extast.TaskCheckBox:
		p.cover(n.Pos(), n.Pos()+3)
		p.emit(boundary, n.Pos(), false)
	default:
		if n.Type() == ast.TypeInline {
			p.emit(boundary, n.Pos(), false)
		}
	}
	return ast.WalkContinue
}

func (p *page) emit(b byte, at int, entity bool) {
	at = max(0, min(at, len(p.src)-1)) // some nodes have no position
	p.shown, p.from, p.entity = append(p.shown, b), append(p.from, at), append(p.entity, entity)
}

func (p *page) cover(from, to int) {
	for i := max(0, from); i < min(to, len(p.covered)); i++ {
		p.covered[i] = true
	}
}

// text shows a part of the source as a renderer does: without its escapes, and with the
// characters that it refers to.
func (p *page) text(from, to int) {
	p.cover(from, to)
	p.backticks(from, to)
	for i := from; i < to; i++ {
		switch b := p.src[i]; {
		case b == '\\' && i+1 < to && punctuation(p.src[i+1]):
			i++
			p.emit(p.src[i], i, false)
		case b == '&':
			whole, is := reference(p.src[i:to])
			if !is {
				p.emit(b, i, false)
				continue
			}
			for _, c := range []byte(html.UnescapeString(whole)) {
				p.emit(c, i, true)
			}
			i += len(whole) - 1
		default:
			p.emit(b, i, false)
		}
	}
}

func punctuation(b byte) bool {
	return b < utf8.RuneSelf && b > ' ' && b != 0x7f && !unicode.IsLetter(rune(b)) && !unicode.IsDigit(rune(b))
}

var references = lazyregexp.New(`^&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});`)

// reference returns the character reference that s begins with.
func reference(s string) (whole string, is bool) {
	whole = references.FindString(s)
	return whole, whole != "" && html.UnescapeString(whole) != whole
}

// blank takes code out of the prose.
func (p *page) blank(from, to int) {
	p.cover(from, to)
	for i := from; i < to; i++ {
		if p.prose[i] != '\n' {
			p.prose[i] = code
		}
	}
}

func (p *page) block(n ast.Node) {
	p.emit(code, n.Pos(), false)
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		p.blank(line.Start, line.Stop)
	}
}

// tabs makes spaces of the tabs before a line of code. In a quote a tab is narrower, and
// the line would be no code.
func (p *page) tabs(n ast.Node) {
	for i := range n.Lines().Len() {
		end := n.Lines().At(i).Start
		from := strings.LastIndexByte(p.src[:end], '\n') + 1
		if before := p.src[from:end]; strings.Contains(before, "\t") && strings.TrimLeft(before, " \t") == "" {
			p.edit("", from, end, strings.ReplaceAll(before, "\t", "    "))
		}
	}
}

// languages matches the names of languages after the beginning of a block of code.
var languages = lazyregexp.New(`^[0-9A-Za-z+#._-]{1,20}$`)

// drawn are the languages that GitHub draws instead of showing the code.
var drawn = map[string]bool{"mermaid": true, "math": true, "geojson": true, "topojson": true, "stl": true}

// fence permits the name of a language after the beginning of a block of code. Other words
// do not show there: they become the first line of the code.
func (p *page) fence(n *ast.FencedCodeBlock) {
	if p.line {
		p.edit("hidden", max(0, n.Pos()), max(0, n.Pos()), `\`)
		return
	}
	if n.Info == nil {
		return
	}
	at := n.Info.Segment
	words := p.src[at.Start:at.Stop]
	p.cover(at.Start, at.Stop)
	switch before := p.src[strings.LastIndexByte(p.src[:at.Start], '\n')+1 : at.Start]; {
	case languages.MatchString(words) && !drawn[strings.ToLower(words)]:
	case strings.Trim(before, " `~") == "":
		p.edit("hidden", at.Start, at.Start, "\n")
	default: // in a quote or a list
		p.edit("hidden", at.Start, at.Stop, "text")
	}
}

// autoLink shows an address as it is. One in which a name stands before the host, or whose
// host has letters of other scripts, reads otherwise than it leads.
func (p *page) autoLink(n *ast.AutoLink) {
	label := n.Label([]byte(p.src))
	at := strings.Index(p.src[max(0, n.Pos()):], string(label))
	if at < 0 {
		return
	}
	at += max(0, n.Pos())
	p.cover(at, at+len(label))
	p.emit(boundary, at, false)
	for i := range label {
		p.links[at+i] = true
		if n.AutoLinkType != ast.AutoLinkEmail || label[i] != '@' {
			p.emit(label[i], at+i, false)
		}
	}
	p.emit(boundary, at+len(label), false)
	if n.AutoLinkType == ast.AutoLinkURL && !plainAddress(string(n.URL([]byte(p.src)))) {
		if i := bytes.Index(label, []byte("://")); i >= 0 {
			p.edit("link", at+i, at+i+3, ":// ")
		} else {
			p.edit("link", at, at, `\`)
		}
	}
}

// addresses matches addresses of pages, with their host and port.
var addresses = lazyregexp.New(`(?i)^(?:https?|ftp)://([0-9a-z._-]+(?::[0-9]+)?)(?:[/?#]\S*)?$`)

// plainAddress reports whether people can see where an address leads.
func plainAddress(address string) bool {
	return addresses.MatchString(address) || strings.HasPrefix(address, "mailto:")
}

// relative matches addresses within the repository, or on the page.
var relative = lazyregexp.New(`^(?:#[\w.%-]*|(?:\.{0,2}/)?(?:[\w.%+-]+/?)*(?:[?#][\w.%=&/+-]*)?)$`)

// link shows a link that leads to another site, but whose text is not its address, as its
// source text.
func (p *page) link(n *ast.Link) {
	to, text := string(n.Destination), visible(n, p.src)
	switch {
	case len(n.Title) > 0:
	case to != "" && !strings.Contains(to, "//") && relative.MatchString(to):
		p.address(n)
		return
	case plainAddress(to) && names(to, text):
		p.address(n)
		return
	}
	p.edit("link", n.Pos(), n.Pos(), `\`)
}

// names reports whether a text is the address, or its host.
func names(address, text string) bool {
	m := addresses.FindStringSubmatch(address)
	if m == nil {
		return false
	}
	bare := func(s string) string {
		return strings.ToLower(strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://"), "/"))
	}
	text = strings.TrimSpace(text)
	return bare(text) == bare(address) || strings.EqualFold(text, m[1])
}

// address notes that the address of a link needs not show.
func (p *page) address(n *ast.Link) {
	end := n.Pos()
	if last := n.LastChild(); last != nil {
		end = max(end, last.Pos())
	}
	for i := end; i < len(p.src) && p.src[i] != '\n'; i++ {
		if strings.HasPrefix(p.src[i:], "](") {
			to := i + 2 + len(n.Destination) + 2
			p.cover(i, to)
			return
		}
	}
}

// visible returns the text that people see of a node.
func visible(n ast.Node, src string) string {
	var out strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) { // the walker has no error
		if entering {
			switch c := c.(type) {
			case *ast.Text:
				q := &page{src: src, covered: make([]bool, 0)}
				q.text(c.Segment.Start, c.Segment.Stop)
				out.Write(q.shown)
			case *ast.AutoLink:
				out.Write(c.Label([]byte(src)))
			}
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

// image shows an image as its source text.
func (p *page) image(n *ast.Image) {
	at := n.Pos()
	if at >= 0 && at < len(p.src) && p.src[at] == '!' {
		at++
	}
	p.edit("image", at, at, `\`)
}

// html notes HTML. raw escapes it.
func (p *page) html(at int, lines *gmtext.Segments) {
	p.emit(boundary, at, false)
	for i := range lines.Len() {
		p.cover(lines.At(i).Start, lines.At(i).Stop)
	}
	p.edit(htmlRule(p.src[at:]), at, at, "")
}

func htmlRule(s string) string {
	if strings.HasPrefix(strings.TrimLeft(s, " "), "<!--") {
		return "marker"
	}
	return "html"
}

// definition shows where references lead, in the place where they are defined.
func (p *page) definition(n *ast.LinkReferenceDefinition) {
	if n.Lines().Len() == 0 {
		return
	}
	first := n.Lines().At(0)
	if i := strings.IndexByte(p.src[first.Start:], '['); i >= 0 {
		p.edit("hidden", first.Start+i, first.Start+i, `\`)
	}
}

var (
	tag        = lazyregexp.New(`<[A-Za-z/!?]`)
	footnote   = lazyregexp.New(`(?m)^[\s>*+-]*(\[\^[^\]\n]{1,100}\]:)`)
	dollar     = lazyregexp.New(`\$`)
	formula    = lazyregexp.New("[$](?:[^\\s$]|[^\\s$][^$]*[^\\s$])[$](?:[^0-9]|$)|[$][$]|[$]\x01")
	entityText = lazyregexp.New(`&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});`)
)

// raw finds what is live in the source: bots read that, and forges parse it in other ways
// than this package does.
func (p *page) raw() {
	prose := string(p.prose)
	for _, r := range rules {
		for _, at := range r.matches(prose) {
			if strings.IndexByte(prose[at.from:at.to], code) < 0 {
				p.live(r, at)
			}
		}
	}
	for _, m := range tag.FindAllStringIndex(prose, -1) {
		if at := m[0]; (!p.escaped(at) || p.inAddress(at)) && (at+1 >= len(p.links) || !p.links[at+1]) {
			if htmlRule(prose[at:]) == "marker" { // nor may it pass for a marker of our own
				p.edit("marker", at, at+len("<!--"), `\<! --`)
			} else {
				p.edit("html", at, at, `\`)
			}
		}
	}
	for _, m := range footnote.FindAllStringSubmatchIndex(prose, -1) {
		p.edit("hidden", m[2], m[2], `\`)
	}
	for _, m := range entityText.FindAllStringIndex(prose, -1) {
		if whole := prose[m[0]:m[1]]; !p.escaped(m[0]) && html.UnescapeString(whole) != whole {
			p.edit("", m[0], m[0], `\`)
		}
	}
	if formula.MatchString(prose) { // GitHub draws it
		for _, m := range dollar.FindAllStringIndex(prose, -1) {
			if !p.escaped(m[0]) && !p.links[m[0]] {
				p.edit("", m[0], m[0], `\`)
			}
		}
	}
}

// escaped reports whether the byte of the source is escaped.
func (p *page) escaped(at int) bool {
	n := 0
	for at-n > 0 && p.src[at-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// live has a part of the source made harmless that a rule matches.
func (p *page) live(r rule, at span) {
	with := r.replacement(p.src, at)
	if p.escaped(at.from) {
		at.from--
	}
	if strings.HasPrefix(with, "#") && p.beginsLine(at.from) { // it would be a heading
		with = `\` + with
	}
	p.edit(r.name, at.from, at.to, with)
}

func (p *page) beginsLine(at int) bool {
	return strings.Trim(p.src[strings.LastIndexByte(p.src[:at], '\n')+1:at], " \t>*+-") == ""
}

// rendered finds what is live in the text that the forge shows.
func (p *page) rendered() {
	shown := string(p.shown)
	for _, r := range rules {
		if r.name == "skip" { // commits and titles are read as they are
			continue
		}
		for _, at := range r.matches(shown) {
			if p.entity[at.from] || p.entity[at.to-1] {
				p.edit(r.name, p.from[at.from], p.from[at.from], `\`) // the reference shows as it is written
				continue
			}
			p.live(r, p.source(at))
		}
	}
}

// source returns the part of the source that a part of the shown text is from. Where an element
// begins or ends its position is of no use: a line of code may be first in the source.
func (p *page) source(at span) span {
	from := p.from[at.from]
	in := span{from, from + 1}
	for i := at.from; i < at.to; i++ {
		if c := p.shown[i]; c != boundary && c != code && p.from[i] >= in.from {
			in.to = max(in.to, p.from[i]+1)
		}
	}
	return in
}

// uncovered finds letters that no part of the page shows, such as those of cells that a
// table has no column for.
func (p *page) uncovered() {
	for i, r := range p.src {
		if !p.covered[i] && unicode.IsLetter(r) {
			p.edit("hidden", i, i, "")
			return
		}
	}
}
