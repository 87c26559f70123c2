package view

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// sarif is a log of SARIF 2.1.0 with one run: the parts of it that an audit has.
type sarif struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifInvocation struct {
	Successful bool `json:"executionSuccessful"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   map[string]any    `json:"properties"`
}

type sarifText struct {
	Text string `json:"text"`
}

// sarifLocation is a commit of the log. The log is no file of a repository, and readers of SARIF want one: the
// stream stands for it, and the sequence for the line.
type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region *sarifRegion `json:"region,omitempty"`
}

type sarifRegion struct {
	StartLine uint64 `json:"startLine"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

// PrintSARIF prints the violations in SARIF 2.1.0.
func (a Audit) PrintSARIF(env *term.Env) error {
	run := sarifRun{Invocations: []sarifInvocation{{true}}, Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "signalbox audit", Rules: []sarifRule{}}
	for _, v := range a.Violations {
		if rule := (sarifRule{string(v.Rule)}); !slices.Contains(run.Tool.Driver.Rules, rule) {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		}
		run.Results = append(run.Results, a.result(v))
	}
	return env.Print(sarif{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func (a Audit) result(v logcheck.Violation) sarifResult {
	at := sarifLocation{}
	at.Physical.Artifact.URI = a.Stream
	if v.Seq > 0 {
		at.Physical.Region = &sarifRegion{v.Seq}
	}
	if v.Instance != "" {
		at.Logical = []sarifLogical{{v.Instance, "object"}}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %s", a.Identity, v.Rule, v.Seq, v.Instance))
	return sarifResult{
		RuleID: string(v.Rule), Level: "error", Message: sarifText{v.Text}, Locations: []sarifLocation{at},
		Fingerprints: map[string]string{"violation/v1": hex.EncodeToString(sum[:])},
		Properties:   map[string]any{"sequence": v.Seq, "instance": v.Instance},
	}
}
