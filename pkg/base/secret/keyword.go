package secret

import "strings"

// keywords finds which rules may match a text: those one of whose keywords it has,
// and those without any. It reads the text once.
type keywords struct {
	first  [1 << 10]uint64 // which two bytes a keyword begins with
	by     map[uint16][]keyword
	always []int // rules without a keyword
	rules  int
}

type keyword struct {
	text  string
	rules []int
}

func newKeywords(rules []rule) *keywords {
	k := &keywords{by: map[uint16][]keyword{}, rules: len(rules)}
	for i, r := range rules {
		if len(r.Keywords) == 0 {
			k.always = append(k.always, i)
		}
		for _, word := range r.Keywords {
			if len(word) < 2 {
				k.always = append(k.always, i)
				continue
			}
			k.add(word, i)
		}
	}
	return k
}

func (k *keywords) add(word string, rule int) {
	at := uint16(word[0])<<8 | uint16(word[1])
	k.first[at>>6] |= 1 << (at & 63)
	for i, there := range k.by[at] {
		if there.text == word {
			k.by[at][i].rules = append(there.rules, rule)
			return
		}
	}
	k.by[at] = append(k.by[at], keyword{word, []int{rule}})
}

// find returns which rules may match a text in lower case, and whether any may.
func (k *keywords) find(lower string) (may []bool, any bool) {
	hit := func(rules []int) {
		if may == nil {
			may = make([]bool, k.rules)
		}
		for _, i := range rules {
			may[i], any = true, true
		}
	}
	if len(k.always) > 0 {
		hit(k.always)
	}
	for i := 0; i+1 < len(lower); i++ {
		at := uint16(lower[i])<<8 | uint16(lower[i+1])
		if k.first[at>>6]&(1<<(at&63)) == 0 {
			continue
		}
		for _, word := range k.by[at] {
			if strings.HasPrefix(lower[i:], word.text) {
				hit(word.rules)
			}
		}
	}
	return may, any
}
