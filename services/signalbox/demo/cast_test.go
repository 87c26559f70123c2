package demo_test

import (
	"encoding/xml"
	"flag"
	"fmt"
	"html"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	output = flag.String("output", "", "file with the output of signalbox demo, for -cast")
	cast   = flag.String("cast", "", "file that gets that output as a moving picture, SVG; see make screenshots")
)

const (
	castWidth  = 116 // characters
	castHeight = 30  // lines at most
	castPause  = 0.8 // most seconds between two lines
)

// timed matches a line of the demonstration that has its time. Lines of progress have no arrow.
var timed = regexp.MustCompile(`^ +([0-9.]+)s  (→| )`)

// castOf returns the moves, questions and answers of a demonstration as SVG: each line comes when it came, pauses cut.
func castOf(out string) string {
	var b, lines strings.Builder
	at, last, n := 0.0, 0.0, 0
	print := func(class, line string) {
		if n++; n <= castHeight {
			short := []rune(strings.TrimRight(line, " "))
			if len(short) > castWidth {
				short = append(short[:castWidth-1], '…')
			}
			fmt.Fprintf(&lines, `<text x="16" y="%d" class="%s" style="animation-delay:%.1fs">%s</text>`+"\n", n*18+10, class, at, html.EscapeString(string(short)))
		}
	}
	print("", "$ signalbox demo")
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		m := timed.FindStringSubmatch(line)
		if m != nil {
			if now, err := strconv.ParseFloat(m[1], 64); err == nil {
				at, last = at+min(castPause, max(0.1, now-last)), now
			}
		}
		switch {
		case strings.Contains(line, "signin?code"), m != nil && m[2] == " " && !strings.Contains(line, " answers "):
		case m != nil && strings.Contains(line, "waiting_for"):
			print("people", line)
		case m != nil && strings.Contains(line, "fixing_issues"):
			print("failed", line)
		case m != nil && (strings.Contains(line, "completed") || strings.Contains(line, "validating")):
			print("done", line)
		case m != nil:
			print("move", line)
		case strings.Contains(line, "│ **Q"), strings.Contains(line, "│ Q"), strings.Contains(line, "│ - "), strings.Contains(line, "│ # "):
			at += 0.3
			print("said", strings.ReplaceAll(line, "**", ""))
		case strings.HasPrefix(line, "ok  "), strings.HasPrefix(line, "pull request "):
			at += 0.3
			print("done", line)
		}
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Output of signalbox demo: from a report to a pull request">
<style>text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre; } .move { fill: #4ba4e5; } .people { fill: #f69537; } .failed { fill: #f2426e; } .done { fill: #21f8a9; } .said { fill: #b6b9bd; }
text { opacity: 0; animation: come .1s forwards; } @keyframes come { to { opacity: 1; } } @media (prefers-reduced-motion) { text { opacity: 1; animation: none; } }</style>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
`, castWidth*8+32, min(n, castHeight)*18+28)
	return b.String() + lines.String() + "</svg>\n"
}

func TestACastHasTheMovesAndTheWordsOfPeopleAndNoLink(t *testing.T) {
	svg := castOf(`console: http://127.0.0.1:4280/signin?code=ABC (signs in once)
   0.9s      received                              pm                  fetching …
   0.9s  → received                                gateway             “Some <widgets>”
   1.5s  → waiting_for_requirements_clarification  pm            21ms  the questions are asked
          │ **Q1. What happens.** Please quote it.
   9.5s    answers                                 pm                  Answered: Q1.
pull request  http://127.0.0.1:45247/acme/widgets/pull/2
`)
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
		t.Errorf("it is no XML: %v\n%s", err, svg)
	}
	for text, want := range map[string]bool{"signin": false, "fetching": false, "“Some &lt;widgets&gt;”": true, "Q1. What happens. Please": true, "Answered: Q1.": true, "pull request  http": true, `class="people"`: true} {
		if strings.Contains(svg, text) != want {
			t.Errorf("it has %q: %t, want %t\n%s", text, !want, want, svg)
		}
	}
}

// TestTheCastIsMade makes the moving picture of the documents.
func TestTheCastIsMade(t *testing.T) {
	if *cast == "" {
		t.Skip("no -cast: make screenshots makes it")
	}
	out, err := os.ReadFile(*output)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*cast, []byte(castOf(string(out))), 0o644); err != nil {
		t.Fatal(err)
	}
}
