package rules

import (
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// language is what the rules know of one language: how reports in it name and say the
// elements, and how people are asked in it. Each text of says, wish, help and dunno, and of
// headings, is a list of alternatives of a regular expression.
type language struct {
	code     string
	script   func(r rune) bool  // a letter of its own; nil: it is written in Latin
	unspaced bool               // it parts no words
	common   string             // words that tell a Latin language from others
	headings map[element]string // what reports call the element
	says     map[element]string // what tells it in free text
	crash    string             // what says that a program broke down
	wish     string             // what tells a request from a report of a fault
	help     string             // how a question for help begins
	dunno    string             // how people say that they cannot tell

	labels map[element]string
	asks   map[element]string
	// Where the report says half of it, %s: what it says.
	expectedOf, actualOf string
	errorText            string // asks for the message of a crash
	frame                frame
}

// frame is the rest of a comment that asks.
type frame struct {
	Ask, Again string // begin it: at first, and when a part was answered
	Have       string // %s: the elements that were found
	Unclear    string // %s: the questions that nothing answered
	One, Many  string // how to answer one question; several, %s: the first of them
	Then       string // when the work goes on
}

// compiled is a language with its expressions.
type compiled struct {
	language
	named       map[element]*lazyregexp.Regexp
	told        map[element]*lazyregexp.Regexp
	crashes     *lazyregexp.Regexp
	wishes      *lazyregexp.Regexp
	asksForHelp *lazyregexp.Regexp
	cannotTell  *lazyregexp.Regexp
	frequent    map[string]bool
}

// spoken are the languages: English, which the rules are written for, and those of the table.
var spoken = []*compiled{
	compile(english), compile(table[0]), compile(table[1]), compile(table[2]), compile(table[3]), compile(table[4]), compile(table[5]), compile(table[6]),
	compile(table[7]), compile(table[8]),
}

func compile(l language) *compiled {
	c := &compiled{language: l, named: map[element]*lazyregexp.Regexp{}, told: map[element]*lazyregexp.Regexp{}, frequent: map[string]bool{}}
	for e, any := range l.headings {
		c.named[e] = lazyregexp.New(`^(?:` + any + `)` + l.end())
	}
	for e, any := range l.says {
		c.told[e] = l.within(any)
	}
	c.crashes, c.wishes, c.cannotTell = l.within(l.crash), l.within(l.wish), l.at(l.dunno)
	c.asksForHelp = l.at(l.help)
	for _, w := range strings.Fields(l.common) {
		c.frequent[w] = true
	}
	return c
}

// end is the end of a word.
func (l language) end() string {
	if l.unspaced {
		return ""
	}
	return `(?:[^\p{L}\p{N}]|$)`
}

// within matches any of the alternatives as words of a text; nil for none.
func (l language) within(any string) *lazyregexp.Regexp {
	if any == "" {
		return nil
	}
	begin := `(?:^|[^\p{L}\p{N}])`
	if l.unspaced {
		begin = ""
	}
	return lazyregexp.New(`(?i)` + begin + `(?:` + any + `)` + l.end())
}

// at matches any of the alternatives where a text begins; nil for none.
func (l language) at(any string) *lazyregexp.Regexp {
	if any == "" {
		return nil
	}
	return lazyregexp.New(`(?i)^[^\p{L}\p{N}]*(?:` + any + `)` + l.end())
}

// matches reports whether the expression, if there is one, matches.
func matches(r *lazyregexp.Regexp, text string) bool { return r != nil && r.MatchString(text) }

// languageOf guesses the language of a text: by its script, or by its frequent words.
// English is what is not clearly another.
func languageOf(text string) *compiled {
	text = inlineCode.ReplaceAllString(text, " ")
	letters, of := 0, map[*compiled]int{}
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		for _, l := range spoken {
			if l.script != nil && l.script(r) {
				of[l]++
			}
		}
	}
	// Japanese is written with Chinese characters, too: its own syllables decide.
	for _, share := range []int{12, 4} {
		for _, l := range spoken {
			if l.script != nil && of[l] > 1 && of[l] >= letters/share && (share == 4 || l.code == "ja") {
				return l
			}
		}
	}
	best, most := spoken[0], 1
	hits := map[*compiled]int{}
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		for _, l := range spoken {
			if l.frequent[w] {
				hits[l]++
			}
		}
	}
	for _, l := range spoken {
		if n := hits[l]; n > most {
			best, most = l, n
		}
	}
	return best
}

// inlineCode is what says nothing of the language around it.
var inlineCode = lazyregexp.New("`[^`\n]*`|https?://\\S+")

// namedIn lists the elements that a heading stands for in any language.
func namedIn(title string) (found []element) {
	for _, l := range spoken[1:] {
		for e, is := range l.named {
			if is.MatchString(title) {
				found = append(found, e)
			}
		}
	}
	return found
}

// toldIn reports whether free text has the element, in any language but English.
func toldIn(e element, text string) bool {
	for _, l := range spoken[1:] {
		if matches(l.told[e], text) {
			return true
		}
	}
	return false
}

// anyOf reports whether what one language knows matches the text.
func anyOf(text string, of func(*compiled) *lazyregexp.Regexp) bool {
	for _, l := range spoken {
		if matches(of(l), text) {
			return true
		}
	}
	return false
}
