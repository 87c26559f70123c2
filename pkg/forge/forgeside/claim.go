package forgeside

import (
	"strconv"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// claim matches the words by which people say that a pull request closes an issue, in
// languages in which a forge does not read them, and the number of the issue.
var claim = lazyregexp.New(`(?i)(?:(?:^|[^\p{L}])(?:implements|solves|` + // English
	`schlie(?:ß|ss)t|behebt|löst|` + // German
	`cierra|corrige|resuelve|soluciona|arregla|` + // Spanish
	`ferme|résout|` + // French, and corrige
	`fecha|resolve|conserta|` + // Portuguese
	`chiude|risolve|corregge|` + // Italian
	`sluit|` + // Dutch
	`zamyka|naprawia|rozwiązuje|` + // Polish
	`закрывает|исправляет|решает|закриває|виправляє|` + // Russian, Ukrainian
	`kapatır|düzeltir)|` + // Turkish
	`修复|修復|修正|关闭|關閉|解决|解決|クローズ)` + // Chinese, Japanese: without spaces between words
	`[\s:：]*#([0-9]{1,9})`)

// claims reports whether the text of a pull request says in one of these languages that it
// closes the issue of a number.
func claims(text string, issue int) bool {
	for _, m := range claim.FindAllStringSubmatch(text, -1) {
		if m[1] == strconv.Itoa(issue) {
			return true
		}
	}
	return false
}
