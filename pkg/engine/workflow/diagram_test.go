package workflow

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestMermaidDrawsTheTable(t *testing.T) {
	src := strings.NewReplacer("waiting", "on-hold").Replace(small)
	want := `stateDiagram-v2
    state "open 15m" as open
    state "on-hold" as s1
    [*] --> open
    open --> open
    open --> s1
    open --> done
    s1 --> open
    s1 --> done: added
    done --> [*]
    classDef owner0 fill:#cfe2f3,color:#222
    class open owner0
`
	if got := Mermaid(loaded(t, src)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMermaidDrawsWhatHappensByItself(t *testing.T) {
	got := Mermaid(loaded(t, rich))
	for _, want := range []string{
		"    pushed --> dropped: by itself\n", "    open --> review\n", "    note right of open: asks lead\n",
		"    note right of dropped: opens story\n", `    state "review 1h" as review` + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestSVGIsWellFormedAndHasEveryStateAndMove(t *testing.T) {
	for _, d := range append(builtins(t), loaded(t, small), loaded(t, rich)) {
		t.Run(d.Name, func(t *testing.T) {
			states, paths, dashed, texts := map[string]string{}, 0, 0, map[string]bool{}
			for dec := xml.NewDecoder(strings.NewReader(string(SVG(d)))); ; {
				token, err := dec.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				switch token := token.(type) {
				case xml.CharData:
					texts[string(token)] = true
				case xml.StartElement:
					attr := map[string]string{}
					for _, a := range token.Attr {
						attr[a.Name.Local] = a.Value
					}
					switch {
					case token.Name.Local == "g" && attr["id"] != "":
						states[attr["id"]] = attr["class"]
					case token.Name.Local == "path" && attr["stroke"] != "":
						paths++
						if attr["stroke-dasharray"] != "" {
							dashed++
						}
					}
				}
			}
			moves, added := 0, 0
			for _, s := range d.States {
				if got, want := states["state-"+s.Name], "state "+string(s.Kind); got != want {
					t.Errorf("%s is drawn as %q, want %q", s.Name, got, want)
				}
				for _, move := range s.Next {
					if moves++; move.Added != "" {
						added++
					}
					title := s.Name + " → " + move.To
					if s.byItself(move.To) {
						title += " (by itself)"
					}
					if move.Added == "" && !texts[title] {
						t.Errorf("%s is not drawn", title)
					}
				}
			}
			if paths != moves || dashed != added {
				t.Errorf("%d curves, %d dashed; want %d and %d", paths, dashed, moves, added)
			}
		})
	}
}

func TestNoTwoBoxesOrLanesOverlap(t *testing.T) {
	for _, d := range append(builtins(t), loaded(t, rich)) {
		l := newLayout(d)
		lanes := map[*lane]bool{}
		for i, b := range l.boxes {
			if b.y < 0 || b.y+b.h > l.height || l.x < 0 || l.x+boxWidth > l.width || i > 0 && b.y < l.boxes[i-1].y+l.boxes[i-1].h {
				t.Errorf("%s: %s is off the canvas or over another", d.Name, b.state.Name)
			}
			for _, one := range append(b.left, b.right...) {
				lanes[one] = true
				if x := l.line(one); x < 0 || x > l.width {
					t.Errorf("%s: a move into %s is off the canvas", d.Name, one.to.state.Name)
				}
			}
		}
		for a := range lanes {
			for b := range lanes {
				if a != b && a.left == b.left && a.at == b.at && a.first <= b.last && b.first <= a.last {
					t.Errorf("%s: moves into %s and into %s share a line", d.Name, a.to.state.Name, b.to.state.Name)
				}
			}
		}
	}
}

func TestTheInitialStateIsOnTopAndFinalOnesAreLast(t *testing.T) {
	for _, d := range append(builtins(t), loaded(t, rich)) {
		final := false
		l := newLayout(d)
		for i, b := range l.boxes {
			if b.row != i || (i == 0) != (b.state.Name == d.Initial) || final && b.state.Kind != Final {
				t.Errorf("%s: %s is in row %d", d.Name, b.state.Name, i)
			}
			final = b.state.Kind == Final
		}
		if len(l.boxes) != len(d.States) {
			t.Errorf("%s has %d states", d.Name, len(l.boxes))
		}
	}
}

func TestMarksAreInTheDrawing(t *testing.T) {
	d := loaded(t, small)
	got := string(SVGOf(d, Marks{Label: "Where 3 are & why", States: map[string]StateMark{"open": {Class: "left"},
		"waiting": {Class: "here", Count: "3", Says: "oldest 2h", Link: "/?a=b&c=d", Title: "3 instances"}},
		Moves: map[[2]string]MoveMark{{"open", "waiting"}: {Label: "2× 5m", Title: "made 2×"}, {"open", "nowhere"}: {Label: "1×"}}}))
	for _, want := range []string{
		`id="state-open" class="state work left"`, `id="state-waiting" class="state wait here"`, `id="state-done" class="state final"`,
		`<path class="made" d=`, "open → waiting: made 2×", ">2× 5m</text>", `<a href="/?a=b&amp;c=d"><title>waiting, 3 instances`, ">3</text></g></a>",
		">oldest 2h</tspan>", `aria-label="Where 3 are &amp; why"`,
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, got)
		}
	}
}

func TestALongNameIsBrokenWhereItsWordsEnd(t *testing.T) {
	for name, want := range map[string]string{
		"open": "open", "waiting_for_requirements_clarification": "waiting_for_|requirements_|clarification",
		"requires_human_intervention": "requires_human_|intervention", "on-hold": "on-hold", strings.Repeat("x", 40): strings.Repeat("x", 40),
	} {
		if got := strings.Join(broken(name), "|"); got != want {
			t.Errorf("%s is broken into %s, want %s", name, got, want)
		}
	}
}
