package docs_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These tests plant errors that the checks must find.

func TestADeadLinkIsFound(t *testing.T) {
	got := deadLinks(map[string]string{
		"a.md": "# One & two\n[there](#one--two) [not there](#three) [out](https://example.com/x)\n```\n[code](nowhere.md)\n```\n",
		"b.md": "[page](a.md#one--two) [gone](gone.md) [file](go.mod)",
	})
	slices.Sort(got)
	want := []string{"a.md: #three: there is no such heading", "b.md: gone.md leads nowhere"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAFlagThatIsNotThereIsFound(t *testing.T) {
	const help = "      --repo=DIR      Where ($SIGNALBOX_REPO).\n      --json          As JSON.\n"
	got := unknownFlags([]string{"resolve", "--repo", "x", "--json", "--rep=y", "--js"}, help)
	if diff := cmp.Diff([]string{"--rep", "--js"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFlagsAreReadOutOfAHelpText(t *testing.T) {
	const help = `Usage: x [flags]

Flags:
  -h, --help          Show help.
      --work-dir="~/.cache"
                      Where things
                      are kept ($SIGNALBOX_WORK_DIR,
                      $WORK_DIR).

Service
  --healthcheck       Ask.
`
	got := readHelp(help)
	want := []described{
		{name: "work-dir", value: `="~/.cache"`, env: []string{"$SIGNALBOX_WORK_DIR", "$WORK_DIR"}, text: "Where things are kept"},
		{name: "healthcheck", text: "Ask."},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(described{})); diff != "" {
		t.Error(diff)
	}
}

func TestAnExampleIsReadWithTheRefusalItMeets(t *testing.T) {
	const text = "nats request sb.api.open '{\"a\":\n 1}'\nnats request  sb.api.get '{}' # unknown_instance\nnats request sb.api.x   '{}' # not_owner\n"
	var got [][]string
	for _, m := range example.FindAllStringSubmatch(text, -1) {
		got = append(got, m[1:])
	}
	want := [][]string{{"sb.api.open", "{\"a\":\n 1}", ""}, {"sb.api.get", "{}", "unknown_instance"}, {"sb.api.x", "{}", "not_owner"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
