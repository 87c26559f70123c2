package sanitize

import "strings"

// Mentions returns where s notifies somebody on a forge, as offsets.
func Mentions(s string) []int { return starts(mention.FindAllStringSubmatchIndex(s, -1), 2) }

// Closings returns where s closes an issue once it is merged, as offsets.
func Closings(s string) []int { return starts(closing.FindAllStringSubmatchIndex(s, -1), 1) }

// Commands returns where a line of s begins with a command, as offsets.
func Commands(s string) []int { return starts(command.FindAllStringSubmatchIndex(s, -1), 2) }

// starts returns where a group of each match begins.
func starts(matches [][]int, group int) (at []int) {
	for _, m := range matches {
		at = append(at, m[2*group])
	}
	return at
}

// FirstHidden returns where the first character of s is that shows nothing or
// turns the text around, -1 if there is none. The spaces that this package
// inserts are not counted, nor are ends of lines.
func FirstHidden(s string) int {
	return strings.IndexFunc(s, func(r rune) bool { return string(r) != apart && hidden(r) })
}

// FirstTurning returns where the first character of s is that changes the direction of what
// follows, so that code reads otherwise than it runs. It returns -1 if there is none. Marks
// of direction that right-to-left text needs are not meant.
func FirstTurning(s string) int {
	return strings.IndexFunc(s, func(r rune) bool {
		return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r >= 0xe0000 && r <= 0xe0fff
	})
}
