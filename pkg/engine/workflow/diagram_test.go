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
			moves := 0
			for _, s := range d.States {
				if got, want := states["state-"+s.Name], "state "+string(s.Kind); got != want {
					t.Errorf("%s is drawn as %q, want %q", s.Name, got, want)
				}
				for _, move := range s.Next {
					moves++
					title := s.Name + " → " + move.To
					if s.byItself(move.To) {
						title += " (by itself)"
					}
					if move.Added == "" && !texts[title] {
						t.Errorf("%s is not drawn", title)
					}
				}
			}
			if paths != moves || dashed != len(additions(d)) {
				t.Errorf("%d curves, %d dashed; want %d and %d", paths, dashed, moves, len(additions(d)))
			}
		})
	}
}

func TestNoTwoBoxesOverlap(t *testing.T) {
	for _, d := range builtins(t) {
		l := newLayout(d)
		for _, a := range l.boxes {
			if a.x < 0 || a.y < 0 || a.x+a.w > l.width || a.y+a.h > l.height {
				t.Errorf("%s: %s is off the canvas", d.Name, a.state.Name)
			}
			for _, b := range l.boxes {
				if a != b && a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
					t.Errorf("%s: %s and %s overlap", d.Name, a.state.Name, b.state.Name)
				}
			}
		}
	}
}

func TestThePathOfAnInstanceIsMarkedInItsDrawing(t *testing.T) {
	d := loaded(t, small)
	got := string(SVGOf(d, Path{Here: "waiting", Moves: map[[2]string]int{{"open", "waiting"}: 2, {"open", "nowhere"}: 1}}))
	for _, want := range []string{
		`id="state-open" class="state work left"`, `id="state-waiting" class="state wait here"`, `id="state-done" class="state final"`,
		`<path class="made" d=`, "open → waiting (made 2×)",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, got)
		}
	}
}
