package rules

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Patterns of free text, in the words people use. A pattern with the name …Empty
// matches what sounds like it and says nothing; it is taken out first.
var (
	fatal = words(`crash(es|ed|ing)?`, `panics?`, `segfaults?`, `segmentation fault`, `stack overflow`,
		`deadlocks?`, `data race`, `hangs?`, `freezes?`, `unhandled exception`)
	trace = lazyregexp.New(`(?m)^Traceback \(|^panic: |^fatal error: |^goroutine \d+ |^\s+at .+[(:]\S+:\d+|^\s*File ".+", line \d+|^\w*(Error|Exception): |^thread '.+' panicked`)

	stepWords = words(`to reproduce`, `reproduc\w+ (by|with|it)`,
		`(when|if|after|whenever|once|(every|each) time|as soon as) (i|you|we|one|they|users?|someone|calling|running|clicking|opening|starting|passing|parsing|using|the \w+)`,
		`(by|try|just|simply|i|we) (ran?|call|click|open|typ|enter|pass|set|start|execut|upload|invok)\w*`,
		`(running|calling|clicking|opening|passing|invoking|executing|parsing|entering) \S+`)
	stepList   = lazyregexp.New(`(?m)^\s*1[.)]\s+\S.*\n(?:.*\n)*?\s*2[.)]\s+\S`)
	invocation = lazyregexp.New("`[^`\n]*(?:\\([^`\n]*\\)|\\S+ +\\S)[^`\n]*`|(?m:^\\s*\\$ +\\S)")
	bareCall   = lazyregexp.New(`\b\w+(?:\.\w+)*\((?:"[^"]*"|'[^']*'|-?[\d.]+)[^)\n]*\)`)

	should = words(`should(n.?t)?`, `expect(s|ed|ing)?`, `supposed to`, `ought to`, `instead of`, `rather than`,
		`(correct|right) (result|answer|value|output|behaviou?r) (is|would be)`, `must (not )?\w+`)
	shouldEmpty = words(
		`(should|must) (really )?(be )?(fixed|solved|addressed|easy|done|improved|better|looked at|checked|closed|help)`,
		`(should|must) work(ing)?( (properly|correctly|again|fine|better|normally|as (usual|before|expected)))?`,
		`would (really |also |just )?(be|make it|make this) (so |very |really )?(nice|nicer|great|good|cool|useful|helpful|awesome|handy|better|neat|lovely|convenient)`,
		`(as|than|not|un) ?expected`, `i expect (you|this|it) to (be )?(fixed|work)`)

	happens = words(
		`but (it |i |we |the \w+ )?(got|gets?|returns?|returned|gives?|gave|shows?|showed|prints?|printed|is|was|does|says?|sees?|saw)`,
		`(i|we|it|which|and) (gets?|got|sees?|saw)`, `(returns|prints|shows|displays|yields|outputs)`,
		`(returned|gives|gave|printed|throws?|threw|raises?|raised|becomes|ends up|results? in)`,
		`(exits?|fails?|failed) with`, `error(s out)?:`,
		`(is|are|gets?) (rounded|truncated|lost|dropped|ignored|missing|empty|duplicated|doubled|cut off|off by)`)
	happensEmpty = words(
		`(it|this|that|everything|nothing|something) (is|gives|shows|returns|does|looks) (wrong|broken|bad|weird|strange|off)`,
		`(gives?|shows?|returns?|prints?|yields|gets?|got|sees?|displays?) (me |us |a |an |the |some )?(wrong|bad|incorrect|weird|strange|odd|errors?|problems?|issues?)( (results?|values?|outputs?|numbers?|things?|messages?|errors?))?`)

	places = lazyregexp.New("(?i)`[^`\n]+`" + // code
		`|\b[\w-]+(/[\w.-]+)*\.(go|py|rs|[cm]?[jt]sx?|java|kt|rb|c|cc|cpp|h|cs|php|swift|sh|ya?ml|json|toml|html|css|sql|md)\b` + // a file
		`|\b\w+\.\w+\(|\b\w+\(\)|(^|\s)--?[a-z][\w-]+\b` + // a call, an option
		`|\bv\d+(\.\d+)+|\b(version|release)s? v?\d|\b\d+\.\d+\.\d+\b` + // a version
		`|(^|\s)/[a-z][\w-]*/[\w/{}:-]+|https?://`) // an endpoint
	component = words(`(in|on|at|from|of|inside|within|for) (the |our |my )?['"“]?[\w-]+['"”]?( [\w-]+)? ` +
		`(page|module|package|component|command|subcommand|function|method|class|endpoint|screen|dialog|tab|view|form|menu|api|cli|` +
		`service|library|driver|parser|plugin|widget|table|report|export|import|header|footer|sidebar|config(uration)?)`)

	box  = lazyregexp.New(`(?m)^\s*[-*]\s+\[[ xX]\]\s+\S`)
	done = words(`(done|fixed|solved|accepted) when`, `acceptance`, `the tests? (should|must|passes)`, `a test (that|for|which)`,
		`given .+ when .+ then`, `for example`, `e\.g\.`,
		`(should|must|shall|will|would) (then |also |only |always |never |not )*(return|print|be|exit|show|produce|yield|give|output|contain|`+
			`equal|list|write|display|round|reject|accept|fail|read|create|delete|send|have|include|sort|keep|support|respond|work (on|in|for|with))`)

	wants = words(`add(ing)?`, `support(ing)?`, `allow(ing)?`, `implement`, `provide`, `introduce`, `would like`, `i'd like`, `wants?`,
		`needs?`, `please`, `(ability|option) to`, `should`, `could`, `let (me|us|users)`, `make it possible`, `feature`)
	purposes = words(`so that`, `so (i|we|you|users|people|one|they|it) (can|could|do)`, `because`, `in order to`, `to be able to`,
		`use ?case`,
		`currently`, `at (the moment|present)`, `right now`, `today`, `as of now`, `otherwise`, `without (it|this|that)`,
		`(i|we|you|they) (use|run|have|have to|often|need)`, `would (help|save|allow|let|make)`, `helps?`, `saves?`, `useful (for|when|if)`,
		`as an? [\w ]+,? i (want|need)`, `(my|our) (team|users|customers|company|ci|pipeline|builds?)`)
)

// words matches any of the expressions as whole words, in either case.
func words(any ...string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)(?:^|\b)(?:` + strings.Join(any, "|") + `)(?:\b|$)`)
}

// mentions reports whether free text, and the code in it, has the element.
func mentions(e element, text, code string) bool {
	if toldIn(e, text) {
		return true
	}
	switch e {
	case steps:
		return stepWords.MatchString(text) || stepList.MatchString(text) || invocation.MatchString(text) || bareCall.MatchString(text) ||
			code != "" && !trace.MatchString(code)
	case expected:
		return should.MatchString(shouldEmpty.ReplaceAllString(text, ""))
	case actual:
		return trace.MatchString(text) || trace.MatchString(code) ||
			happens.MatchString(happensEmpty.ReplaceAllString(text, ""))
	case scope:
		return places.MatchString(text) || component.MatchString(text) || trace.MatchString(code)
	case acceptance:
		return box.MatchString(text) || done.MatchString(shouldEmpty.ReplaceAllString(text, ""))
	case what:
		return wants.MatchString(text) && len(word.FindAllString(text+code, -1)) >= 12
	case why:
		return purposes.MatchString(text)
	}
	return false
}
