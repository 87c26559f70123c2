package app

import (
	"fmt"
	"testing"
)

func TestATextNamesWhatAnIssueWaitsFor(t *testing.T) {
	for text, want := range map[string]string{
		"Blocked by #12":                            "[{ 12}]",
		"It is blocked by #12, #13 and #14.":        "[{ 12} { 13} { 14}]",
		"**Depends on:** #12":                       "[{ 12}]",
		"depends-on: #7 & #8":                       "[{ 7} { 8}]",
		"Blocked by issue #12 and PR #13":           "[{ 12} { 13}]",
		"## Blocked by\n\n- #12\n- [ ] #13\n":       "[{ 12} { 13}]",
		"Blocked by:\n- #12\n- #13\n\nSee #14.":     "[{ 12} { 13}]",
		"Blocked by https://h.example/a/b/issues/9": "[{ 9}]",
		"Depends on a/b/pull/9, A/B#10":             "[{ 9} { 10}]",
		"Depends on [#12](https://h.example)":       "[{ 12}]",
		"Blocked by x/y#3":                          "[{x/y 3}]",
		"Blocked by #12. Depends on #12.":           "[{ 12}]",
		"Blocked by #12\r\nand more":                "[{ 12}]",
		"See #12. It depends on the weather.":       "[]",
		"It is not blocked by #12":                  "[]",
		"It isn't blocked by #12":                   "[]",
		"It is no longer blocked by #12":            "[]",
		"It was blocked by #12":                     "[]",
		"#11 is blocked by #12":                     "[]",
		"#11 depends on #12":                        "[]",
		"`blocked by #12`":                          "[]",
		"    blocked by #12":                        "[]",
		"```\nblocked by #12\n```":                  "[]",
		"> blocked by #12":                          "[]",
		"<!-- blocked by #12 -->":                   "[]",
		"blocked by `#12`":                          "[]",
		"Unblocked by #12":                          "[]",
		"blocked by #0 and #99999999999":            "[]",
		"":                                          "[]",
	} {
		if got := fmt.Sprint(waitsOn("a/b", text)); got != want {
			t.Errorf("%q waits for %s, want %s", text, got, want)
		}
	}
}
