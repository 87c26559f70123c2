package forgeside

import "testing"

func TestAClaimToCloseAnIssueIsReadInOtherLanguages(t *testing.T) {
	for text, want := range map[string]bool{
		"Zamyka #8.":                    true,
		"Treść\n\nNaprawia: #8":         true,
		"Schließt #8, siehe oben":       true,
		"Behebt #8":                     true,
		"fecha #8":                      true,
		"修复 #8":                         true,
		"这个提交修复#8":                      true,
		"Закрывает #8":                  true,
		"Zamyka #88":                    false,
		"See #8":                        false,
		"Related to #8, naprawia stary": false,
		"prefecha #8":                   false,
		"Zamyka sprawę opisaną w #8":    false,
	} {
		if got := claims(text, 8); got != want {
			t.Errorf("%q claims to close #8: %t", text, got)
		}
	}
}
