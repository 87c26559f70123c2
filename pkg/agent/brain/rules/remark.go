package rules

import (
	"iter"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Clauses of a comment that answer nothing and decide nothing.
var (
	greeting = lazyregexp.New(`(?i)^(hi|hello|hey|dear|good (morning|day|evening)|thanks?|thank you|thx|cheers|sorry|(best|kind) regards|bye|cc|fyi)` +
		`(\W+(hi|all|everybody|everyone|folks|team|there|again|so much|a lot|very much|in advance|for (the|your|asking|looking)( [\w-]+){0,4}|@[\w-]+|questions?|work|job))*$`)
	// consent is idle only with a promise: alone it decides.
	consent  = lazyregexp.New(`(?i)^(sure|ok|okay|yes|yep|right|well|hm+|great|nice|perfect|no problem|fine)$`)
	promises = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)^(?:(?:and|but|so|ok|okay|then|yes)\W+)*(?:i|we)(?:\s*['’]?ll| will| shall|['’]m going to| am going to|['’]re going to| are going to)` +
			` (?:\w+ ){0,2}?(?:look|check|get back|come back|reply|respond|answer|write|think|ask|find out|investigate|be back|return|let you know|get to (?:it|this)|do (?:it|that|this)|see what)\b.{0,60}$`),
		lazyregexp.New(`(?i)^(?:(?:and|but|so|ok|okay|yes)\W+)*(?:will (?:look|check|get back|reply|respond|answer|ask|find out|do)|looking into (?:it|this)|on it|let me (?:check|look|think|ask|find out|see)` +
			`|give me (?:a|some|until|till)\b|bear with me|(?:i|we) need to (?:check|ask|think|find out))\b.{0,60}$`),
		lazyregexp.New(`(?i)^(?:(?:and|but|so|maybe|perhaps|probably)\W+)*(?:later|tomorrow|tonight|soon|next week|this week|on (?:mon|tues|wednes|thurs|fri|satur|sun)day` +
			`|(?:i am |i['’]m |we are )?(?:out of (?:the )?office|on (?:vacation|holidays?|leave)|away|busy)\b.{0,40}|(?:back|here again) (?:on|in|next|tomorrow)\b.{0,30}` +
			`|(?:i|we) (?:can['’]?t|cannot|have no time)\b.{0,30}(?:today|now|this week))$`),
		lazyregexp.New(`(?i)^(?:bump|ping|\+1|me too|same here|noted|got it|understood|following|subscrib\w+|any (?:news|update|updates|progress)(?: (?:on|here|about)\b.{0,30})?` +
			`|(?:is|are) (?:this|anybody|anyone|somebody|someone) (?:still )?(?:being )?(?:worked on|working on (?:it|this))|(?:what['’]?s|what is) the status.{0,20})$`),
	}
)

var (
	clauses   = lazyregexp.New(`[.!?,;:…\n]+|\s[-–—]\s`)
	verbatim  = lazyregexp.New(`(?i)^\s*/(approve|reject|answer|signalbox\s+answer)\b`)
	mention   = lazyregexp.New(`(?i)^\W*?(?:(?:hi|hello|hey|dear|thanks|cc|fyi)\W+)?@([\w][\w-]*)(?:\[bot\])?\W*\s*(\w*)`)
	reporting = lazyregexp.New(`(?i)^(says?|said|told|thinks?|means?|wants?|wrote|confirmed|reports?)$`)
	asksBack  = lazyregexp.New(`(?i)^(?:(?:and|but|so|hm+|sorry|well)\W+)*(what|why|how|which|where|who|when|do|does|did|can|could|is|are|should|would|will)\b`)
)

// Remark reports whether a comment is no answer and no decision. It is thanks, an
// announcement, a remark to another person, a reminder, or nothing but a quote. A comment that
// numbers a question, lists or has code is none. self is our own login; it may be empty.
func Remark(body, self string) bool {
	var said []line
	for _, text := range strings.Split(body, "\n") {
		if verbatim.MatchString(text) {
			return false
		}
	}
	for _, l := range reply(body) {
		switch {
		case l.quoted:
		case l.code, byName.MatchString(l.text), byList.MatchString(l.text), point.MatchString(l.text):
			return false
		default:
			said = append(said, l)
		}
	}
	return !slices.ContainsFunc(paragraphsOf(said), func(p string) bool { return !idleParagraph(p, self) })
}

// paragraphsOf are the texts that blank lines part.
func paragraphsOf(all []line) (found []string) {
	for p := range strings.SplitSeq(join(all), "\n\n") {
		if strings.TrimSpace(p) != "" {
			found = append(found, p)
		}
	}
	return found
}

// idleParagraph reports whether a paragraph is to another person, or each of its clauses
// is idle.
func idleParagraph(text, self string) bool {
	if m := mention.FindStringSubmatch(text); m != nil && !strings.EqualFold(m[1], strings.TrimSuffix(self, "[bot]")) {
		return !reporting.MatchString(m[2])
	}
	consents, promised := false, false
	for clause := range clausesOf(text) {
		switch {
		case slices.ContainsFunc(promises, func(r *lazyregexp.Regexp) bool { return r.MatchString(clause) }):
			promised = true
		case consent.MatchString(clause):
			consents = true
		case !greeting.MatchString(clause):
			return false
		}
	}
	return promised || !consents
}

// clausesOf yields the clauses of a text that have letters, digits or a plus in them.
func clausesOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, c := range clauses.Split(text, -1) {
			if c = strings.TrimSpace(strings.Trim(c, " \t*_()\"“”")); strings.ContainsFunc(c, wordy) && !yield(c) {
				return
			}
		}
	}
}

func wordy(r rune) bool {
	return r == '+' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 0x7f && r != '’'
}

// counterQuestion reports whether a text does nothing but ask.
func counterQuestion(text string) bool {
	text = oneLine(plain(text))
	return strings.HasSuffix(text, "?") && asksBack.MatchString(text)
}

// tells reports whether a person's text has what one of the analyst's questions asks for.
func tells(q instance.Question, text string) bool {
	for _, k := range []kind{bug, feature} {
		for _, p := range parts(k) {
			if p.isAbout(q.Text) {
				issue := instance.Issue{Labels: []string{string(k)}}
				return read(issue, []string{text}).has(p.element)
			}
		}
	}
	return false
}

// asksFor reports whether the analyst's question is about the element.
func asksFor(q instance.Question, e element) bool { return part{element: e}.isAbout(q.Text) }

// ofRule reports whether the analyst by rule asks this question.
func ofRule(q instance.Question) bool {
	isAbout := func(p part) bool { return p.isAbout(q.Text) }
	return slices.ContainsFunc(parts(bug), isAbout) || slices.ContainsFunc(parts(feature), isAbout)
}

// fresh lists what was said since the work was entered and is no remark.
func (p PM) fresh(a brain.Assignment, notes []instance.NoteEntry) []instance.NoteEntry {
	return slices.DeleteFunc(slices.Clone(notes), func(n instance.NoteEntry) bool { return n.At.Before(a.Entered) || Remark(n.Text, p.Self) })
}
