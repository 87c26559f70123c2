package term

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestADurationIsSaidInAtMostTwoUnits(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s":     -time.Minute,
		"1ms":    time.Millisecond,
		"850ms":  850 * time.Millisecond,
		"3.2s":   3200 * time.Millisecond,
		"9.9s":   9949 * time.Millisecond,
		"10s":    9950 * time.Millisecond,
		"59s":    59400 * time.Millisecond,
		"1m":     59500 * time.Millisecond,
		"4m":     4 * time.Minute,
		"4m10s":  4*time.Minute + 10*time.Second,
		"10m":    10*time.Minute - time.Millisecond,
		"42m":    42*time.Minute + 20*time.Second,
		"1h":     time.Hour - time.Second,
		"2h10m":  2*time.Hour + 10*time.Minute,
		"23h59m": 24*time.Hour - time.Minute,
		"1d":     24*time.Hour - time.Second,
		"3d4h":   76 * time.Hour,
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestTextFromAnybodyDoesNotSteerTheTerminal(t *testing.T) {
	const nasty = "a\x1b[2Jb\tc\r\nd\u009b31m\u202ee\x07\n\n"
	if got, want := Line(nasty), "a‹U+001B›[2Jb c d‹U+009B›31m‹U+202E›e‹U+0007›"; got != want {
		t.Errorf("a line is %q, want %q", got, want)
	}
	if got, want := Text(nasty), "a‹U+001B›[2Jb    c\nd‹U+009B›31m‹U+202E›e‹U+0007›"; got != want {
		t.Errorf("a text is %q, want %q", got, want)
	}
	if got, want := Indent("a\n\nb", "  "), "  a\n\n  b"; got != want {
		t.Errorf("indented it is %q, want %q", got, want)
	}
}

func table(colour bool) string {
	var out bytes.Buffer
	env := Env{Stdout: &out, Colour: colour}
	t := env.Table("name", "state", "note")
	t.Row(Cell{Bold, "a/1"}, Cell{Wait, "waiting"}, "zwölf\nBoxkämpfer")
	t.Row("longer", "", "")
	t.Row("b", Cell{Good, "done"}, 7)
	if err := t.Print(); err != nil {
		panic(err)
	}
	return out.String()
}

func TestATableAlignsItsColumns(t *testing.T) {
	const want = "NAME    STATE    NOTE\n" +
		"a/1     waiting  zwölf Boxkämpfer\n" +
		"longer\n" +
		"b       done     7\n"
	t.Run("without colours", func(t *testing.T) {
		if got := table(false); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("with colours", func(t *testing.T) {
		painted := table(true)
		if !strings.Contains(painted, "\x1b[33mwaiting\x1b[00m") {
			t.Errorf("the waiting state is not painted: %q", painted)
		}
		plain := regexp.MustCompile(`\x1b\[\d\dm`).ReplaceAllString(painted, "")
		if got := regexp.MustCompile(` +\n`).ReplaceAllString(plain, "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestJSONIsOneObjectALine(t *testing.T) {
	var out bytes.Buffer
	env := Env{Stdout: &out}
	for _, v := range []any{map[string]string{"a": "<b> & c\nd"}, map[string]int{"n": 1}} {
		if err := env.Print(v); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), `{"a":"<b> & c\nd"}`+"\n"+`{"n":1}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSONReadsTheSameAndSteersNothing(t *testing.T) {
	const hostile = "x\x1b]0;title\a\u009b2J\u202e\u2066\u00ad\U000e0041 ü 👩\u200d💻 \u2028"
	for _, v := range []any{"plain", hostile, map[string]any{hostile: []any{hostile, 1.5}}} {
		var out bytes.Buffer
		if err := (&Env{Stdout: &out}).Print(v); err != nil {
			t.Fatal(err)
		}
		var again any
		if err := json.Unmarshal(out.Bytes(), &again); err != nil || !reflect.DeepEqual(again, v) {
			t.Errorf("%q reads as %#v, %v", out.String(), again, err)
		}
		if at := strings.IndexFunc(strings.TrimSuffix(out.String(), "\n"), func(r rune) bool {
			return r != '\u200d' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
		}); at >= 0 {
			t.Errorf("it prints %q", out.String()[at:])
		}
	}
}

func TestATableFitsTheTerminal(t *testing.T) {
	print := func(width int) (lines []string) {
		var out bytes.Buffer
		env := Env{Stdout: &out, Width: width}
		table := env.Table("instance", "state", "agent", "lease", "title").Narrow("title", "state")
		table.Row("acme/a-repository-with-a-long-name/1234567", "waiting_for_requirements_clarification (2 questions)", "analyst-1", "",
			strings.Repeat("A title that is long. ", 4))
		table.Row("acme/widgets/2", "received", "", "", "short")
		if err := table.Print(); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	}
	for _, width := range []int{80, 120} {
		lines := print(width)
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d of %d characters: %s", n, width, line)
			}
		}
		if len(lines) != 3 || !strings.Contains(lines[1], "acme/a-repository-with-a-long-name/1234567") || strings.Contains(lines[0], "LEASE") {
			t.Errorf("at %d:\n%s", width, strings.Join(lines, "\n"))
		}
	}
	if lines := print(0); !strings.Contains(lines[0], "LEASE") || strings.Contains(lines[1], "…") {
		t.Errorf("without a limit:\n%s", strings.Join(lines, "\n"))
	}
}

func TestLinesAreBrokenAtBlanks(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 0, "one two three"},
		{"one two three", 7, "one two\nthree"},
		{"one two three", 8, "one two\nthree"},
		{"  one two three", 9, "  one two\n  three"},
		{"https://example.test/long two", 10, "https://example.test/long\ntwo"},
		{"https://example.test/long", 10, "https://example.test/long"},
		{"a\n\nbb cc", 2, "a\n\nbb\ncc"},
		{"äö üß ñé", 5, "äö üß\nñé"},
	} {
		if got := Wrap(c.text, c.width); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestALineThatComesAfterAReadWasGivenUpIsReadByTheNext(t *testing.T) {
	in, out := io.Pipe()
	e := Env{Stdin: in}
	given, stop := context.WithCancel(t.Context())
	stop()
	if line, err := e.ReadLine(given); !errors.Is(err, context.Canceled) {
		t.Fatalf("it reads %q, %v", line, err)
	}
	go func() { _, _ = io.WriteString(out, "one\ntwo\n") }() // fails if nobody reads, as the test does
	for _, want := range []string{"one", "two"} {
		if line, err := e.ReadLine(t.Context()); line != want || err != nil {
			t.Errorf("it reads %q, %v, want %q", line, err, want)
		}
	}
}
