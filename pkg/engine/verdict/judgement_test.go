package verdict_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

func TestABoundedJudgementFitsIntoACommitAndKeepsItsCounts(t *testing.T) {
	many := func(prefix string, n int) verdict.Names {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("%s%06d%s", prefix, i, strings.Repeat("x", 400)))
		}
		return verdict.Names{Names: all}
	}
	long := strings.Repeat("é", 1<<20)
	j := verdict.Judgement{
		BaseFailures: many("a", 10000), Fixed: many("b", 10000), Broken: many("c", 10000), StillRed: many("d", 10000),
		Gone: many("e", 10000), NewlySkipped: many("f", 10000), MadeFlaky: many("g", 10000),
		Ways: &verdict.BothWays{Files: many("h", 10000), Aside: long, Changed: long}, Unproven: long, Question: long,
	}
	for range 1000 {
		j.Tests = append(j.Tests, verdict.ShownTest{Name: long, Output: long})
		j.Flaky = append(j.Flaky, verdict.Flake{Name: long})
		j.Renamed = append(j.Renamed, verdict.Rename{From: long, To: long})
		j.Accepted = append(j.Accepted, verdict.Accepted{Name: long, By: long})
		j.Findings = append(j.Findings, long)
	}
	got := j.Bounded()
	text, err := json.Marshal(got)
	if err != nil || len(text) > 160<<10 {
		t.Errorf("it has %d bytes, %v", len(text), err)
	}
	if !utf8.Valid(text) || got.Broken.Len() != 10000 || len(got.Broken.Names) > 500 || got.Ways.Files.Len() != 10000 {
		t.Errorf("of 10000 broken tests %d are named and %d counted", len(got.Broken.Names), got.Broken.Len())
	}
	if len(j.Tests) != 1000 || len(j.Tests[0].Output) != len(long) || j.Broken.Len() != 10000 {
		t.Error("the judgement that was cut has changed")
	}
}

func TestNamesAreSortedAndEachIsThereOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOf(rapid.StringMatching(`[a-c]{0,3}`)).Draw(t, "names")
		got := verdict.NamesOf(all)
		want := slices.Compact(slices.Sorted(slices.Values(all)))
		if !slices.Equal(got.Names, want) && len(want)+len(got.Names) > 0 || got.More != 0 {
			t.Errorf("of %q there are %v, want %q", all, got, want)
		}
	})
}

func TestAClippedTextIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, limit := rapid.String().Draw(t, "text"), rapid.IntRange(3, 50).Draw(t, "limit")
		got := verdict.Shorten(text, limit)
		if len(got) > limit || !utf8.ValidString(got) || len(text) <= limit && got != text {
			t.Errorf("%q is cut to %q at %d", text, got, limit)
		}
	})
}
