// Command secretrules prints the rules of the gitleaks that go.mod names, as
// pkg/base/secret reads them: `make secret-rules`. It is a module of its own, so that
// nothing that gitleaks is built of comes into the product.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/regexp"
)

type allowlist struct {
	All       bool     `json:"all,omitempty"`    // all checks have to hold, not one
	Target    string   `json:"target,omitempty"` // "", "match" or "line"
	Regexes   []string `json:"regexes,omitempty"`
	StopWords []string `json:"stop_words,omitempty"`
}

type rule struct {
	ID          string      `json:"id"`
	Regex       string      `json:"regex"`
	SecretGroup int         `json:"secret_group,omitempty"`
	Entropy     float64     `json:"entropy,omitempty"`
	Keywords    []string    `json:"keywords,omitempty"`
	Allowlists  []allowlist `json:"allowlists,omitempty"`
}

func main() {
	log.SetFlags(0)
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		log.Fatal(err)
	}
	var raw config.ViperConfig
	if err := v.Unmarshal(&raw); err != nil {
		log.Fatal(err)
	}
	cfg, err := raw.Translate()
	if err != nil {
		log.Fatal(err)
	}
	var rules []rule
	for _, r := range cfg.Rules {
		// A rule for certain files is none for messages and comments; the generic
		// one guesses by entropy, and finds mostly test data.
		if r.Regex == nil || r.Path != nil || len(r.RequiredRules) > 0 || r.RuleID == "generic-api-key" {
			continue
		}
		one := rule{ID: r.RuleID, Regex: r.Regex.String(), SecretGroup: r.SecretGroup, Entropy: r.Entropy, Keywords: r.Keywords}
		for _, a := range r.Allowlists {
			if len(a.Paths)+len(a.Commits) > 0 {
				continue
			}
			one.Allowlists = append(one.Allowlists, allowlist{a.MatchCondition == config.AllowlistMatchAnd, a.RegexTarget, patterns(a.Regexes),
				a.StopWords})
		}
		rules = append(rules, one)
	}
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Compare(a.ID, b.ID) })
	out := struct {
		Source string `json:"source"`
		Rules  []rule `json:"rules"`
	}{fmt.Sprintf("gitleaks %s, MIT License, Copyright (c) 2019 Zachary Rice", version()), rules}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		log.Fatal(err)
	}
}

func patterns(all []*regexp.Regexp) (text []string) {
	for _, p := range all {
		text = append(text, p.String())
	}
	return text
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if d.Path == "github.com/zricethezav/gitleaks/v8" {
			return d.Version
		}
	}
	return "of an unknown version"
}
