package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// required are the properties that the schema of SARIF 2.1.0 requires of what an audit prints, and those
// without which code hosts refuse a file. A * stands for each element.
var required = []string{
	"version", "runs", "runs.*.tool.driver.name", "runs.*.tool.driver.rules.*.id", "runs.*.invocations.*.executionSuccessful", "runs.*.results",
	"runs.*.results.*.message.text", "runs.*.results.*.ruleId", "runs.*.results.*.level", "runs.*.results.*.properties.sequence",
	"runs.*.results.*.locations.*.physicalLocation.artifactLocation.uri",
}

func TestAnAuditIsSARIF(t *testing.T) {
	violation := logcheck.Violation{Seq: 7, Instance: "acme/widgets/1", Rule: logcheck.Table, Text: "the table of issue has no a → b"}
	for name, violations := range map[string][]logcheck.Violation{
		"no violation":           {},
		"one":                    {violation},
		"two of a rule":          {violation, violation},
		"one of the whole log":   {{Rule: logcheck.Identity, Text: "it is another log"}},
		"one without a sequence": {{Rule: logcheck.Sequence, Text: "sequence 3 is missing"}, violation},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			a := Audit{Stream: "EVENTS", Report: logcheck.Report{Violations: violations}}
			if err := a.PrintSARIF(&term.Env{Stdout: &out}); err != nil {
				t.Fatal(err)
			}
			var log map[string]any
			if err := json.Unmarshal(out.Bytes(), &log); err != nil {
				t.Fatal(err)
			}
			for _, path := range required {
				if lacks(log, strings.Split(path, ".")) {
					t.Errorf("%s is missing in %s", path, &out)
				}
			}
			run := log["runs"].([]any)[0].(map[string]any)
			results := run["results"].([]any)
			if log["version"] != "2.1.0" || len(results) != len(violations) {
				t.Errorf("it has %d results, of version %v: %s", len(results), log["version"], &out)
			}
			rules := map[any]bool{}
			for _, rule := range run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any) {
				if id := rule.(map[string]any)["id"]; rules[id] {
					t.Errorf("the rule %v is there twice", id)
				} else {
					rules[id] = true
				}
			}
			for i, v := range violations {
				one := results[i].(map[string]any)
				if one["ruleId"] != string(v.Rule) || !rules[one["ruleId"]] || one["message"].(map[string]any)["text"] != v.Text {
					t.Errorf("%v is %v, among the rules %v", v, one, rules)
				}
				where := one["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)
				if region, ok := where["region"].(map[string]any); ok != (v.Seq > 0) || ok && region["startLine"] != float64(v.Seq) {
					t.Errorf("%v is at %v", v, where)
				}
			}
		})
	}
}

// lacks reports whether a value lacks a property.
func lacks(v any, path []string) bool {
	if len(path) == 0 {
		return v == nil
	}
	if path[0] != "*" {
		object, ok := v.(map[string]any)
		return !ok || lacks(object[path[0]], path[1:])
	}
	all, ok := v.([]any)
	for _, one := range all {
		ok = ok && !lacks(one, path[1:])
	}
	return !ok
}
