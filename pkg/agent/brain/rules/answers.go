package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

var (
	// "Q1: …", "**Q1.** …", "- Answer 2) …"
	byName = lazyregexp.New(`(?i)^\s{0,3}(?:[-*+]\s+)?(?:\*\*|__)?(?:[qa]#?|(?:question|answer)\s?#?)(\d{1,4})(?:\*\*|__)?(?:\s*[:.)\-–—](?:\*\*|__)?(?:\s+(.*))?|\s*:\s*(\S.*))$`)
	// "/answer Q2 …", "/signalbox answer 2 …", "/answer …"
	byCommand = lazyregexp.New(`(?i)^\s*/(?:signalbox\s+)?answer(?:\s+[q#]?(\d{1,4})[:.)]?)?(?:\s+(.*))?$`)
	// "1. …", "1) …", "1: …", "1:b"
	byList = lazyregexp.New(`^ {0,3}(\d{1,4})(?:[.):]\s+|[):]([^\d\s].*$))(.*)$`)
	// "1: …" and "1:b" among those with names
	byColon = lazyregexp.New(`^ {0,3}(\d{1,4}):\s*(.*)$`)
	// the same, in a quote of the questions
	byQuote = lazyregexp.New(`(?i)^[\s*_#>-]*(?:q(?:uestion)?\s?#?)?(\d{1,4})(?:\*\*|__)?\s*[:.)](?:\*\*|__)?(?:\s|$)`)

	point    = lazyregexp.New(`^[-*+]\s+(.*)$`)
	courtesy = lazyregexp.New(`(?i)^\W*(hi|hello|hey|dear|good (morning|day|evening)|thanks|thank you|cheers|sure|sorry|(best|kind) regards|here you go|see below|(my )?answers)\b[^.?!\n]{0,40}[.,:!]*\W*$`)
)

// ParseAnswers reads a person's reply to numbered questions. It knows
//
//   - "Q1: …", "/answer Q1 …", and a quoted question with text below it: what
//     follows, up to the next of them, is the answer;
//   - a list "1. …", "1) …" by the questions' numbers, or from 1 on in their order;
//   - a label of an element that a question of the analyst asks for, "Expected: …";
//   - free text that follows the questions: the answer to a single open question; as many
//     paragraphs or points as there are open questions, one each in order; or else an answer
//     to those questions of the analyst that it has what they ask for;
//   - of a person who cannot tell, or leaves it to us, free text that answers all.
//
// follows says that the comment is the first that could answer since the questions were
// asked. Later free text answers nothing: what it is about is a guess.
// A Remark answers nothing, nor does a question put back. Quotes, HTML comments
// and other commands are no content; code stays as it is.
// Only questions not yet answered get an answer, each at most one, in the order
// of their numbers. The answered ones help to tell a number from a step of a list.
func ParseAnswers(body string, questions []instance.Question, follows bool) []instance.QuestionAnswer {
	answers, _ := parseAnswers(body, questions, follows, false)
	return answers
}

// parseAnswers also reports whether the answers name or quote their questions. With changes those that
// do are returned of questions that are answered already, too.
func parseAnswers(body string, questions []instance.Question, follows, changes bool) (answers []instance.QuestionAnswer, named bool) {
	body, edited := strings.CutPrefix(body, NowReads)
	follows = follows && !edited
	open := slices.DeleteFunc(slices.Clone(questions), func(q instance.Question) bool { return q.Answered })
	slices.SortFunc(open, func(a, b instance.Question) int { return cmp.Compare(a.Number, b.Number) })
	all := reply(body)
	texts, found := addressed(all, questions)
	if !found {
		all = slices.DeleteFunc(all, func(l line) bool { return l.quoted })
		texts, found = listed(all, questions, open)
	}
	if !found {
		texts, found = labelledFor(all, open)
	}
	if !found {
		texts = free(all, open, follows)
	}
	to := open
	if changes && found {
		to = questions
	}
	for _, q := range to {
		if text := strings.Trim(texts[q.Number], "\n"); q.To == "" && strings.TrimSpace(text) != "" && !Remark(text, "") {
			answers = append(answers, instance.QuestionAnswer{Question: q.Number, Text: text})
			delete(texts, q.Number)
		}
	}
	return answers, found
}

// labelledFor reads sections whose label or heading is of an element that an open question
// of the analyst asks for.
func labelledFor(all []line, open []instance.Question) (texts map[int]string, found bool) {
	known := func(title string) bool { return len(named(title)) > 0 }
	texts = map[int]string{}
	for _, s := range sections(join(all), known) {
		if s.title == "" || !s.says() {
			continue
		}
		for _, e := range named(s.title) {
			for _, q := range open {
				if asksFor(q, e) && texts[q.Number] == "" {
					texts[q.Number], found = s.text+s.code, true
				}
			}
		}
	}
	return texts, found
}

// addressed reads what names its question.
func addressed(all []line, questions []instance.Question) (texts map[int]string, found bool) {
	texts = map[int]string{}
	to, named := 0, []int(nil) // the question being answered; those that the quote being read names
	for _, l := range all {
		switch {
		case l.quoted:
			if n, ok := quotedQuestion(l.text, questions); ok && !slices.Contains(named, n) {
				named = append(named, n)
			}
			continue
		case l.blank() && named != nil:
			continue
		case len(named) == 1:
			to, found = named[0], true
		case len(named) > 1: // all were quoted at once: which is meant is not said
			to = 0
		}
		named = nil
		text := l.text
		if !l.code {
			if m := byName.FindStringSubmatch(text); m != nil {
				to, text, found = atoi(m[1]), m[2]+m[3], true
			} else if m := byCommand.FindStringSubmatch(text); m != nil && m[1] != "" {
				to, text, found = atoi(m[1]), m[2], true
			} else if m := byColon.FindStringSubmatch(text); m != nil && hasForm(questions, atoi(m[1])) {
				to, text, found = atoi(m[1]), m[2], true
			}
		}
		texts[to] += text + "\n"
	}
	return texts, found
}

// hasForm reports whether the question of the number permits only some answers.
func hasForm(questions []instance.Question, number int) bool {
	return slices.ContainsFunc(questions, func(q instance.Question) bool { return q.Number == number && q.Kind != "" })
}

// quotedQuestion tells which question a quoted line is, by its number or its words.
func quotedQuestion(text string, questions []instance.Question) (int, bool) {
	number := 0
	if m := byQuote.FindStringSubmatch(text); m != nil {
		number = atoi(m[1])
	}
	said := title(text)
	for _, q := range questions {
		asked := title(q.Text)
		alike := len(said) >= 12 && strings.Contains(asked, said) || len(asked) >= 12 && strings.Contains(said, asked)
		if q.Number == number || alike {
			return q.Number, true
		}
	}
	return 0, false
}

// listed reads a numbered list, if its numbers can be those of the questions.
func listed(all []line, questions, open []instance.Question) (map[int]string, bool) {
	var numbers []int
	var items []string
	for _, l := range all {
		if m := byList.FindStringSubmatch(l.text); m != nil && !l.code {
			numbers, items = append(numbers, atoi(m[1])), append(items, m[2]+m[3]+"\n")
		} else if len(items) > 0 {
			items[len(items)-1] += l.text + "\n"
		}
	}
	has := func(in []instance.Question, n int) bool {
		return slices.ContainsFunc(in, func(q instance.Question) bool { return q.Number == n })
	}
	known, current, inOrder := len(numbers) > 0, false, len(numbers) == len(open)
	for i, n := range numbers {
		if i > 0 && n <= numbers[i-1] {
			return nil, false
		}
		known, current, inOrder = known && has(questions, n), current || has(open, n), inOrder && n == i+1
	}
	texts := map[int]string{}
	for i, n := range numbers {
		switch {
		case known && current:
			texts[n] = items[i]
		case inOrder && !current:
			texts[open[i].Number] = items[i]
		}
	}
	return texts, len(texts) > 0
}

// free gives text that names no question to the open ones.
func free(all []line, open []instance.Question, follows bool) map[int]string {
	for i, l := range all {
		if m := byCommand.FindStringSubmatch(l.text); m != nil && !l.code {
			all[i].text = m[2]
		}
	}
	texts := map[int]string{}
	whole := join(all)
	if Remark(whole, "") || counterQuestion(whole) {
		return texts
	}
	for _, cut := range []func([]line) []string{paragraphs, points} {
		if parts := cut(all); follows && len(open) > 1 && len(parts) == len(open) {
			for i, q := range open {
				texts[q.Number] = parts[i]
			}
			return texts
		}
	}
	for _, q := range open {
		switch {
		case leavesOpen(whole),
			follows && len(open) == 1 && !(ofRule(q) && consent.MatchString(strings.Trim(whole, " .!\n"))),
			follows && tells(q, withoutCommands(whole)):
			texts[q.Number] = whole
		}
	}
	return texts
}

// paragraphs are what blank lines part, without greetings and thanks. Code
// belongs to what it follows.
func paragraphs(all []line) (found []string) {
	fresh := true
	for _, l := range all {
		switch {
		case l.blank():
			fresh = true
		case fresh && !(l.code && len(found) > 0):
			found = append(found, l.text+"\n")
			fresh = false
		default:
			found[len(found)-1] += l.text + "\n"
			fresh = false
		}
	}
	return slices.DeleteFunc(found, func(p string) bool { return courtesy.MatchString(strings.TrimSpace(p)) })
}

// points are the items of a list without numbers, if that is all there is.
func points(all []line) (found []string) {
	for _, l := range all {
		if m := point.FindStringSubmatch(l.text); m != nil && !l.code {
			found = append(found, m[1]+"\n")
		} else if len(found) > 0 {
			found[len(found)-1] += l.text + "\n"
		} else if !l.blank() && !courtesy.MatchString(strings.TrimSpace(l.text)) {
			return nil
		}
	}
	return found
}

// withoutCommands is a text without the code that is a command to a bot, and without what
// is marked as code and is a single word: neither says where something is, or how it is seen.
func withoutCommands(text string) string {
	return commandCode.ReplaceAllString(text, "")
}

// commandCode is code, of a line or of a block, that is a command to a bot.
var commandCode = lazyregexp.New("`\\s*/[a-z][^`\n]*`|(?m:^\\s*/[a-z][\\w-]*(?: .*)?$)")

// atoi reads the few digits that a pattern has found.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits) // digits, and too few of them to overflow
	return n
}
