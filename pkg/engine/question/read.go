package question

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// ErrUnfit means that words are no answer in the form of the question. Its text names the permitted ones.
var ErrUnfit = errors.New("no answer in the form of the question")

// Answer reads words as the answer to the question asked. It returns the text that is kept: the
// value, and below it the remark that came with it. Its error is an ErrUnfit.
func (f Form) Answer(asked, words string) (string, error) {
	value, more, err := f.Read(asked, words)
	if more != "" {
		value += "\n\n" + more
	}
	return value, err
}

// Value returns the value of a kept answer, without the remark.
func (f Form) Value(kept string) string {
	if f.Kind == Text {
		return kept
	}
	value, _, _ := strings.Cut(kept, "\n\n")
	return value
}

// Read reads words as the answer to the question asked: the option, yes or no, the number, or the words.
// more is the remark that came with it. Its error is an ErrUnfit.
func (f Form) Read(asked, words string) (value, more string, err error) {
	words = strings.TrimSpace(strings.ReplaceAll(words, "\r\n", "\n"))
	if f.Kind == Text {
		if words == "" {
			return "", "", fmt.Errorf("%w: it is empty", ErrUnfit)
		}
		return words, "", nil
	}
	head, rest, _ := strings.Cut(words, "\n")
	head = strings.Trim(head, " \t*_`\"'“”")
	ok := false
	switch f.Kind {
	case Choice:
		value, more, ok = f.option(head)
	case YesNo:
		value, more, ok = yesNo(head)
	case Number:
		value, more, ok = number(asked, head)
	}
	if !ok {
		if head == "" {
			head = "nothing"
		}
		return "", "", fmt.Errorf("%w: %q; permitted: %s", ErrUnfit, short(head), strings.Join(f.Permitted(), ", "))
	}
	return value, strings.TrimSpace(more + "\n" + strings.TrimSpace(rest)), nil
}

// byLetter matches "b", "(b)", "b)", "option b", and what follows.
var byLetter = lazyregexp.New(`(?i)^(?:option\s+|answer\s+)?\(?([a-z])\b[).:]?(.*)$`)

// option returns the option that words name by its text or its letter.
func (f Form) option(words string) (value, more string, ok bool) {
	longest := -1
	for i, o := range f.Options {
		if len(words) >= len(o) && strings.EqualFold(words[:len(o)], o) && (longest < 0 || len(o) > len(f.Options[longest])) {
			if _, ends := aside(words[len(o):]); ends {
				longest = i
			}
		}
	}
	if longest >= 0 {
		more, _ = aside(words[len(f.Options[longest]):])
		return f.Options[longest], more, true
	}
	m := byLetter.FindStringSubmatch(words)
	if m == nil {
		return "", "", false
	}
	i := int(unicode.ToLower(rune(m[1][0])) - 'a')
	if i >= len(f.Options) {
		return "", "", false
	}
	if after := strings.TrimSpace(m[2]); len(after) >= len(f.Options[i]) && strings.EqualFold(after[:len(f.Options[i])], f.Options[i]) {
		m[2] = after[len(f.Options[i]):]
	}
	more, ok = aside(m[2])
	return f.Options[i], more, ok
}

// courtesies are words that add nothing to an answer.
var courtesies = lazyregexp.New(`(?i)^(?:please|pls|thanks|thank you|thx|for sure|of course|definitely)\b`)

// aside returns the remark that follows an answer. ok is false if the words go on without a pause, so
// that the answer may be the beginning of another sentence.
func aside(words string) (more string, ok bool) {
	bare := strings.TrimLeft(words, " \t*_`\"'”)")
	if bare == "" {
		return "", true
	}
	if m := courtesies.FindString(bare); m != "" {
		if rest := strings.TrimLeft(bare[len(m):], " ,.;:!-–—"); rest != "" {
			return bare, true
		}
		return "", true
	}
	if !strings.ContainsAny(bare[:1], ",.;:!-(") && !strings.HasPrefix(bare, "–") && !strings.HasPrefix(bare, "—") {
		return "", false
	}
	if bare[0] != ',' && bare[0] != ';' && bare == words && len(words) > 1 && words[1] != ' ' && words[1] != bare[0] { // "b.txt", "a-b"
		return "", false
	}
	more = strings.TrimLeft(bare, " ,.;:!-–—")
	if courtesies.FindString(more) != "" && len(strings.Fields(more)) <= 2 {
		more = ""
	}
	return more, true
}

var affirms = lazyregexp.New(`(?i)^(?:(yes|yep|yeah|y|sure|ok|okay|true|ja|oui|si|sí|correct|\+1|👍)|(no|nope|n|false|nein|non|-1|👎))(?:([^\pL\pN].*)|$)`)

// yesNo returns the yes or no that words begin with.
func yesNo(words string) (value, more string, ok bool) {
	m := affirms.FindStringSubmatch(words)
	if m == nil {
		return "", "", false
	}
	value = Yes
	if m[2] != "" {
		value = No
	}
	more, ok = aside(m[3])
	return value, more, ok
}

var numeral = lazyregexp.New(`^[+-]?(?:\d{1,18}(?:\.\d{1,9})?|\.\d{1,9})\b`)

// number returns the number that words begin with. A unit may follow if the question names it.
func number(asked, words string) (value, more string, ok bool) {
	value = numeral.FindString(words)
	if value == "" {
		return "", "", false
	}
	rest := words[len(value):]
	unit, after := strings.TrimSpace(rest), ""
	if i := strings.IndexFunc(unit, func(r rune) bool { return r != '%' && !unicode.IsLetter(r) }); i >= 0 {
		unit, after = unit[:i], unit[i:]
	}
	if unit != "" && slices.ContainsFunc(strings.FieldsFunc(asked, func(r rune) bool { return r != '%' && !unicode.IsLetter(r) }), func(word string) bool {
		return strings.EqualFold(strings.TrimSuffix(word, "s"), strings.TrimSuffix(unit, "s"))
	}) {
		rest = after
	}
	if strings.HasPrefix(rest, ",") && len(rest) > 1 && rest[1] != ' ' { // 1,000 or 3,5
		return "", "", false
	}
	more, ok = aside(rest)
	return strings.TrimPrefix(value, "+"), more, ok
}

// short returns the beginning of words.
func short(words string) string {
	const most = 60
	if runes := []rune(words); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return words
}
