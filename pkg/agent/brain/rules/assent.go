package rules

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// assentPhrases are clauses that say yes, in English and German. A comment is a yes if each
// of its clauses is one of them or a courtesy: "I approve, but …" is none.
var assentPhrases = lazyregexp.New(`(?i)^(?:(?:ok|okay|yes|yeah|sure|great|and|please|ja|gut|und|bitte) )*(?:` + strings.Join([]string{
	`/(?:signalbox )?approve`, `👍|✅|🚀`,
	`yes(?: please)?|yep|yeah|yup|aye|sure(?: thing)?|ok|okay|please`,
	`approved?|lgtm|agreed|accepted|confirmed|granted|permitted`,
	`(?:it |this |that )?(?:looks|sounds) (?:good|great|fine|ok|okay|right)(?: to me)?`,
	`(?:i|we) (?:hereby |fully |do )?(?:approve|agree|accept|consent|concur)(?: (?:it|this|that|(?:of|to|with) (?:it|this|that)|the (?:plan|change|proposal|pull request)))?`,
	`(?:i am|i'm|we are|we're) (?:ok|okay|fine|good|happy|in favou?r)(?: (?:with|of) (?:it|this|that))?`,
	`(?:you may |you can |let's )?(?:go ahead|go on|go for it|proceed|continue|carry on)(?: with (?:it|this|that))?`,
	`do (?:it|so|that|this)|ship it|merge(?: it| this)?|open (?:it|the (?:pr|pull request))`,
	`(?:that is|that's|this is|it is|it's|all)? ?(?:fine|good|great|perfect|right)(?: (?:by|with) me| to go| for me)?`,
	`no (?:problem|objections?)`,
	`ja(?: bitte| gerne?)?|jawohl|jup|jo|klar|gerne?|natürlich|selbstverständlich|bitte`,
	`einverstanden|genehmigt|freigegeben|zugestimmt|bestätigt|angenommen`,
	`(?:ich|wir) stimmen? (?:dem |der änderung |dem vorschlag )?zu|(?:ich bin|wir sind) (?:damit )?(?:einverstanden|dafür)|(?:ich|wir) genehmigen?(?: das| es)?|dafür`,
	`(?:das |es )?(?:passt|geht klar|geht in ordnung|ist (?:gut|in ordnung|okay|ok))(?: so| für mich)?|in ordnung|alles klar`,
	`(?:das |es )?sieht gut aus|gefällt mir|von mir aus|keine einwände`,
	`mach(?:t|en sie)?(?: (?:das|es|so|weiter|bitte))*|(?:nur )?(?:weiter|zu|los)(?: so)?|umsetzen|so machen`,
}, "|") + `)$`)

// thanks has the German courtesies with a yes; greeting has the English courtesies.
var thanks = lazyregexp.New(`(?i)^(?:(?:vielen |besten )?dank|danke(?:schön| dir| euch| ihnen)?|hallo|hi|moin|super|prima|toll|(?:viele|beste|liebe) grüße)$`)

// assents reports whether a comment says yes and no more. self is our own login.
func assents(body, self string) bool {
	var said []line
	for _, l := range reply(body) {
		if !l.quoted {
			said = append(said, l)
		}
	}
	whole := strings.ReplaceAll(join(said), "’", "'")
	if slices.ContainsFunc(strings.Split(body, "\n"), approves.MatchString) {
		whole += "\n/approve"
	}
	yes := false
	for _, clause := range clauses.Split(whole, -1) {
		clause = strings.TrimSpace(strings.Trim(clause, " \t*_()\"“”"))
		if m := mention.FindStringSubmatch(clause); m != nil && strings.EqualFold(m[1], strings.TrimSuffix(self, "[bot]")) {
			clause = strings.TrimSpace(strings.TrimPrefix(clause[strings.Index(clause, "@")+1+len(m[1]):], "[bot]"))
		}
		clause = oneLine(clause)
		switch {
		case clause == "" || greeting.MatchString(clause) || thanks.MatchString(clause):
		case assentPhrases.MatchString(clause):
			yes = true
		default:
			return false
		}
	}
	return yes
}

// approves is the command that says yes.
var approves = lazyregexp.New(`(?i)^\s*/(?:signalbox\s+)?approve\s*$`)
