package triage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Report is a report that others are compared with.
type Report struct {
	Instance    string
	Title, Body string
}

const (
	// maxMatches is how many likely duplicates are named.
	maxMatches = 3
	// maxWords is how many words of a text are compared.
	maxWords = 400
	// minShared is how many words two titles share at least.
	minShared = 2
)

// The similarities, from 0 to 1, from which reports are likely duplicates: of their titles
// alone, or of their titles and their texts.
const (
	titlesAlone    = 0.75
	titlesTogether = 0.4
	textsTogether  = 0.5
)

// Likely returns which of the others are probably about the same as a report, with the
// reasons, the most similar first. Titles that share fewer than two words of meaning are
// never similar.
func Likely(of Report, others []Report) []Match {
	type scored struct {
		Match
		score float64
	}
	var found []scored
	title, text := words(of.Title), words(of.Body)
	for _, o := range others {
		if o.Instance == of.Instance {
			continue
		}
		otherTitle := words(o.Title)
		shared := common(title, otherTitle)
		titles := dice(len(shared), len(title), len(otherTitle))
		if len(shared) < minShared || titles < titlesTogether {
			continue
		}
		reason := fmt.Sprintf("the titles share %d of %d words: %s", len(shared), max(len(title), len(otherTitle)), strings.Join(shared, ", "))
		score := titles
		if titles < titlesAlone {
			otherText := words(o.Body)
			both := common(text, otherText)
			texts := dice(len(both), len(text), len(otherText))
			if texts < textsTogether {
				continue
			}
			reason += fmt.Sprintf("; so do the texts %d of %d", len(both), max(len(text), len(otherText)))
			score = (titles + texts) / 2
		}
		found = append(found, scored{Match{o.Instance, reason}, score})
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.Instance, b.Instance))
	})
	var all []Match
	for _, s := range found[:min(len(found), maxMatches)] {
		all = append(all, s.Match)
	}
	return all
}

// Worth reports whether two titles are similar enough for their texts to be compared.
func Worth(title, other string) bool {
	a, b := words(title), words(other)
	shared := len(common(a, b))
	return shared >= minShared && dice(shared, len(a), len(b)) >= titlesTogether
}

// dice returns the similarity of two sets by how much they share, from 0 to 1.
func dice(shared, a, b int) float64 {
	if a+b == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(a+b)
}

// word is a word of meaning, as it is written and as it is compared.
type word struct{ text, stem string }

func byStem(a, b word) int { return strings.Compare(a.stem, b.stem) }

// common returns what two sorted sets share, as the first writes it.
func common(a, b []word) (both []string) {
	for _, w := range a {
		if _, ok := slices.BinarySearchFunc(b, w, byStem); ok {
			both = append(both, w.text)
		}
	}
	return both
}

// words returns the words of meaning in a text, sorted by stem, each once.
func words(text string) (all []word) {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	for _, f := range fields[:min(len(fields), maxWords)] {
		if w := (word{f, stem(f)}); len(w.stem) > 1 && !strings.Contains(stop, " "+w.text+" ") {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, byStem)
	return slices.CompactFunc(all, func(a, b word) bool { return a.stem == b.stem })
}

// stem takes the commonest endings of English words away.
func stem(w string) string {
	for _, ending := range []struct{ long, short string }{
		{"ing", ""}, {"ed", ""}, {"shes", "sh"}, {"ches", "ch"}, {"sses", "ss"}, {"xes", "x"}, {"s", ""},
	} {
		rest, ok := strings.CutSuffix(w, ending.long)
		if ok && len(rest) >= 3 && !strings.HasSuffix(rest, "s") {
			w = rest + ending.short
			break
		}
	}
	if len(w) > 3 {
		return strings.TrimSuffix(w, "e")
	}
	return w
}

// stop are words, between spaces, that say nothing of what a report is about.
const stop = " " +
	"a an and are as at be been bug bugs but by can can't cannot do does doesn don done error errors fail failed fails for " +
	"from get gets had has have how if in into is issue issues it its no not of on or please problem problems report should " +
	"so some than that the then there these this to use used uses using want wanted was we were what when where which while " +
	"why will with work working works wrong you your "
