package pipeline

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// keys are the source's keys, each with its types or its values, transcribed by hand.
func keys(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		all[words[0]] = words[1:]
	}
	return all
}

// full is a document in which nothing is empty.
func full() Document {
	said := "said"
	return Document{
		Version: Version, Issue: Issue{42, "t", "u", BugFix, "b", List[string]{"bug"}},
		Pipeline:      Pipeline{time.Unix(1e9, 0).UTC(), "writer", 1, 3, InProgress, "", ""},
		Triage:        Triage{true, "SMALL", "simple", true, &said},
		Analysis:      Analysis{true, List[File]{{"a", "b", "modify"}}, List[string]{"p"}, TestRequirement{true, "unit", "l", "d"}, List[string]{"m"}, List[string]{"n"}, "b"},
		Writer:        Writer{true, 1, List[Change]{{"a", "d"}}, true, "f", "s", &said},
		Build:         Build{true, true, true, true, List[string]{"e"}, List[Command]{{"c", 1, "o"}}},
		Review:        Review{true, Approved, Findings{List[string]{"g"}, List[Finding]{{"f", 1, "i", "major"}}}, &said},
		Commit:        Commit{true, &said, &said, "b", true, true, &said, true},
		Communication: Communication{List[Question]{{"writer", "analyst", "q", true, &said}}, List[Escalation]{{"reviewer", "r", true, false}}},
		Learnings:     Learnings{"s", List[Observation]{{"writer", "t", "c"}}, &said},
	}
}

// paths lists the leaves of a JSON value.
func paths(at string, v any, all map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			paths(strings.TrimPrefix(at+"."+key, "."), value, all)
		}
	case []any:
		for _, value := range v {
			paths(at+"[]", value, all)
		}
	default:
		all[at] = v
	}
}

func TestTheDocumentHasTheKeysOfItsSourceAndNoOthers(t *testing.T) {
	text, err := full().Encode()
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	have := map[string]any{}
	paths("", value, have)
	want := keys(t)
	for key := range want {
		if _, ok := have[key]; !ok {
			t.Errorf("the document has no %s", key)
		}
	}
	for key := range have {
		if want[key] == nil {
			t.Errorf("the source has no %s", key)
		}
	}
}

// at is the schema of a key.
func at(t *testing.T, key string) map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	now := root
	for part := range strings.SplitSeq(key, ".") {
		name, list := strings.CutSuffix(part, "[]")
		now, _ = now["properties"].(map[string]any)[name].(map[string]any)
		if ref, ok := now["$ref"].(string); ok {
			now = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		if list {
			now = now["items"].(map[string]any)
		}
	}
	return now
}

func TestTheSchemaHasTheTypesAndEnumerationsOfTheSource(t *testing.T) {
	types := []string{"string", "integer", "boolean", "null"}
	for key, want := range keys(t) {
		s := at(t, key)
		var have []string
		switch {
		case s["const"] != nil:
			have = []string{"string"}
		case s["enum"] != nil:
			for _, v := range s["enum"].([]any) {
				have = append(have, v.(string))
			}
		default:
			switch kind := s["type"].(type) {
			case string:
				have = []string{kind}
			case []any:
				for _, v := range kind {
					have = append(have, v.(string))
				}
			}
		}
		if !slices.Equal(have, want) {
			t.Errorf("%s is %q, want %q (types are %q)", key, have, want, types)
		}
	}
}

func TestADocumentThatIsNoneIsRefusedByTheNameOfItsField(t *testing.T) {
	for want, change := range map[string]func(*Document){
		"pipeline.status":          func(d *Document) { d.Pipeline.Status = "fine" },
		"triage.scope":             func(d *Document) { d.Triage.Scope = "HUGE" },
		"review.verdict":           func(d *Document) { d.Review.Verdict = "" },
		"issue.type":               func(d *Document) { d.Issue.Type = "BUG" },
		"writer.attempt":           func(d *Document) { d.Writer.Attempt = 0 },
		"review.findings.issues[]": func(d *Document) { d.Review.Findings.Issues[0].Line = -1 },
	} {
		d := full()
		change(&d)
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(text); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is answered %v", want, err)
		}
	}
	if err := Validate([]byte(`{"version": "1.0"}`)); !errors.Is(err, ErrInvalid) {
		t.Errorf("a document of one key is answered %v", err)
	}
}

func TestADocumentOfNothingIsADocument(t *testing.T) {
	for name, in := range map[string]instance.Instance{
		"of an instance that has just begun": {State: "triage", Owner: "triage", OpenedAt: time.Unix(1e9, 0), Issue: instance.Issue{Number: 42, Title: "t"}},
		"of no instance at all":              {},
	} {
		text, err := Of(in, 0).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
