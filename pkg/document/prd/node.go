package prd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// node is a JSON value and where in the source it is.
type node struct {
	start, end int
	kind       byte            // '{', '[' or 0
	members    []member        // of an object, in order
	asked      map[string]bool // the keys that were looked for in an object
	items      []node          // of an array
	value      any             // of anything else: string, json.Number, bool or nil
}

type member struct {
	key   string
	start int // of the key
	value node
}

// get returns the member of the key.
func (n node) get(key string) (member, bool) {
	if n.asked != nil {
		n.asked[key] = true
	}
	for _, m := range n.members {
		if m.key == key {
			return m, true
		}
	}
	return member{}, false
}

// first returns the member of the first of the keys that is there.
func (n node) first(keys ...string) (member, bool) {
	for _, key := range keys {
		if m, ok := n.get(key); ok {
			return m, true
		}
	}
	return member{}, false
}

// bom is what some editors begin a file with.
const bom = "\ufeff"

// parse reads the one value that src is.
func parse(src []byte) (node, error) {
	skip := 0
	if bytes.HasPrefix(src, []byte(bom)) {
		skip = len(bom)
	}
	p := parser{src: src, skip: skip, dec: json.NewDecoder(bytes.NewReader(src[skip:]))}
	p.dec.UseNumber()
	root, err := p.value()
	if err != nil {
		return root, err
	}
	switch _, err := p.dec.Token(); {
	case errors.Is(err, io.EOF):
		return root, nil
	case err != nil:
		return root, err
	}
	return root, errors.New("there is more than one value")
}

type parser struct {
	src  []byte
	skip int
	dec  *json.Decoder
}

func (p *parser) at() int { return p.skip + int(p.dec.InputOffset()) }

// token returns the next token, where it begins and where it ends.
func (p *parser) token() (t json.Token, start, end int, err error) {
	start = p.at()
	for start < len(p.src) && strings.IndexByte(" \t\r\n,:", p.src[start]) >= 0 {
		start++
	}
	t, err = p.dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return t, start, p.at(), err
}

func (p *parser) value() (n node, err error) {
	t, start, end, err := p.token()
	if err != nil {
		return n, err
	}
	n = node{start: start, end: end}
	switch t {
	case json.Delim('{'):
		n.kind, n.asked = '{', map[string]bool{}
		err = p.object(&n)
	case json.Delim('['):
		n.kind = '['
		err = p.array(&n)
	default:
		n.value = t
		return n, nil
	}
	if err != nil {
		return n, err
	}
	_, _, n.end, err = p.token() // what closes it
	return n, err
}

func (p *parser) object(n *node) error {
	for p.dec.More() {
		key, start, _, err := p.token()
		if err != nil {
			return err
		}
		v, err := p.value()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		n.members = append(n.members, member{name, start, v})
	}
	return nil
}

func (p *parser) array(n *node) error {
	for p.dec.More() {
		v, err := p.value()
		if err != nil {
			return err
		}
		n.items = append(n.items, v)
	}
	return nil
}

func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
