package rules

import "strings"

// maxVisible is how many lines of a pull request's text show before a reader unfolds a part.
const maxVisible = 60

// The marks of a part that may be folded. Texts of others have no control characters.
const (
	foldFrom = "\x00fold "
	foldTo   = "\x00end"
)

// closed ends a part that is folded.
const closed = "\n</details>\n"

// opened begins a part that is folded. Package outbound knows these titles.
func opened(title string) string { return "\n<details><summary>" + title + "</summary>\n" }

// unfolded are the lengths, in lines, that a part may have and is not folded. The first is
// taken by which the text has no more than maxVisible lines, else the last.
var unfolded = []int{30, 12, 8, 5, 3, 1}

// fold folds the long parts of a text that has marks, so that a reader sees the rest at once.
func fold(text string) string {
	out := ""
	for _, most := range unfolded {
		if out = foldAbove(text, most); visibleLines(out) <= maxVisible {
			break
		}
	}
	return out
}

// foldAbove folds the parts that have more lines than most, and removes all marks.
func foldAbove(text string, most int) string {
	var out, part []string
	title, in := "", false
	for _, line := range strings.Split(text, "\n") {
		switch begins, is := strings.CutPrefix(line, foldFrom); {
		case is:
			title, in, part = begins, true, nil
		case line == foldTo:
			if inner := strings.Trim(strings.Join(part, "\n"), ">\n "); filled(part) > most && inner != "" {
				inner = strings.TrimLeft(strings.Join(part, "\n"), "\n")
				inner = strings.TrimPrefix(inner, ">\n") // the line by which a quote goes on
				part = []string{opened(title), strings.TrimRight(inner, "\n"), closed}
			}
			out, in = append(out, part...), false
		case in:
			part = append(part, line)
		default:
			out = append(out, line)
		}
	}
	return strings.TrimSpace(blankLines.ReplaceAllString(strings.Join(out, "\n"), "\n\n")) + "\n"
}

// filled counts the lines that are not blank.
func filled(lines []string) (n int) {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// visibleLines counts the lines of a text that are neither blank nor folded.
func visibleLines(text string) int {
	var seen []string
	in := false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "<details>") {
			in = true
			seen = append(seen, line)
		} else if line == "</details>" {
			in = false
		} else if !in {
			seen = append(seen, line)
		}
	}
	return filled(seen)
}
