package clis

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
)

// What a trial may come to.
const (
	stated   = "done, result stated"
	unstated = "done, no result stated"
	people   = "people are told"
	fault    = "infrastructure fault"
	later    = "fault with its end"
	failure  = "failure of the work"
	wrong    = "not done"
)

type (
	step  = modeltest.Step
	state = map[string]any
)

// trial is a case: what the model does with doctor's task of one file, and what that may
// come to.
type trial struct {
	name  string
	steps func(dir string) []step // nil: the model solves it
	every *modeltest.Turn         // each answer
	want  []string

	but   map[string]string // what else it may come to, by program
	flags string            // of the preset
	drop  string            // prefix of variables that are missing
	to    string            // another address of the model
	idle  string            // limit; empty: 40s
	wall  string            // limit; empty: 1m
	check func(s sighting) string

	servers bool // it is given an MCP server
}

const file = "/greeting.txt"

func fix(dir string) []step {
	return []step{{Read: dir + file}, {Edit: &modeltest.Edit{Path: dir + file, Old: "Helo, world.\n", New: "Hello, world.\n"}}, {Run: "cat " + dir + file}}
}

// seconds is a time that tells the process of a work tree, whose name ends with digits.
func seconds(dir string) string { return "86399." + dir[strings.LastIndexByte(dir, '-')+1:] }

func success(summary string) state {
	return state{"status": "success", "confidence_score": 0.95, "summary": summary}
}

// fixed is the solution, with more steps after it.
func fixed(more ...step) func(string) []step {
	return func(dir string) []step { return append(fix(dir), more...) }
}

func status(code int, kind, message string, header ...string) *modeltest.Turn {
	turn := modeltest.Status(code, kind, message, header...)
	return &turn
}

func result(more state) step {
	all := success("correct the word")
	for key, value := range more {
		all[key] = value
	}
	return step{State: all}
}

func echo() step {
	return step{Tool: &modeltest.Call{Name: "echo", Args: `{"text":"said by the server"}`}}
}

// trials are the cases that doctor tells apart.
func trials() []trial {
	reset := time.Now().Add(3 * time.Hour).Unix()
	cut, stall := modeltest.Cut(), modeltest.Turn{Fault: &modeltest.Fault{Stall: true}}
	overloaded := status(529, "overloaded_error", "Overloaded")
	const infrastructure = fault
	one := func(want ...string) []string { return want }
	return []trial{
		{name: "fix a file, result stated", want: one(stated)},
		{name: "spend as the model counts it", want: one(stated), check: sighting.exact},
		{name: "PATH in its shell", want: one(stated), check: sighting.path,
			steps: func(dir string) []step { return append(fix(dir)[:2], step{Run: "command -v go"}, result(nil)) }},
		{name: "a tool of an MCP server", want: one(stated), servers: true, check: sighting.called,
			steps: fixed(echo(), echo(), result(nil))}, // it may search the tool first
		{name: "prose, with a change", steps: fixed(step{Say: "I corrected the word.\n\nNothing else changed."}), want: one(unstated)},
		{name: "prose, no change", want: one(wrong),
			steps: func(dir string) []step {
				return []step{{Read: dir + file}, {Say: "I could not find anything wrong. Could you tell me more?"}}
			}},
		{name: "fenced result", want: one(stated),
			steps: fixed(step{Say: "Done.\n\n```json\n{\n  \"status\": \"success\",\n  \"confidence_score\": 0.9,\n  \"summary\": \"fenced\"\n}\n```\n"})},
		{name: "fenced result, then words", want: one(stated),
			steps: fixed(step{Say: "```json\n{\"status\": \"success\", \"confidence_score\": 0.9}\n```\n\nLet me know if you want more."})},
		{name: "unknown key in the result", want: one(stated, unstated), steps: fixed(result(state{"files_changed": []string{"greeting.txt"}}))},
		{name: "null in the result", want: one(stated, unstated), steps: fixed(result(state{"questions": nil, "next": nil, "escalate": nil, "asks": nil}))},
		{name: "result by the file", want: one(stated),
			steps: fixed(step{Run: `printf '{"status":"success","confidence_score":0.96,"summary":"by the file"}' > "$SIGNALBOX_RESULT"`}, step{Say: "It is in the file."})},
		{name: "50 MB from a tool", want: one(stated), wall: "4m", idle: "3m", but: map[string]string{"gemini": unstated}, steps: fixed(step{Run: "head -c 52428800 /dev/zero | tr '\\0' x | fold -w 100"}, result(nil))},
		{name: "writes outside the tree", want: one(stated), check: sighting.contained,
			steps: fixed(step{Run: "echo x > $HOME/outside; echo x > " + outside + "; true"}, result(nil))},
		{name: "400, prompt too long", every: status(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"), want: one(fault, failure)},
		{name: "401", every: status(401, "authentication_error", "invalid x-api-key"), want: one(people)},
		{name: "403", every: status(403, "permission_error", "Your account does not have access."), want: one(people)},
		{name: "404, model unknown", every: status(404, "not_found_error", "model: no-such-model"), want: one(people), but: map[string]string{"gemini": fault}},
		{name: "429, Retry-After: 1", every: status(429, "rate_limit_error", "slowly", "Retry-After", "1"), want: one(fault, later)},
		{name: "429, quota", every: status(429, "insufficient_quota", "You exceeded your current quota."), want: one(fault, later)},
		{name: "429, usage limit for 3 h", want: one(fault, later), every: status(429, "rate_limit_error", "You have hit your usage limit.",
			"Retry-After", "10800", "X-Should-Retry", "false", "Anthropic-Ratelimit-Unified-Status", "rejected",
			"Anthropic-Ratelimit-Unified-Representative-Claim", "five_hour", "Anthropic-Ratelimit-Unified-Reset", strconv.FormatInt(reset, 10))},
		{name: "500", every: status(http.StatusInternalServerError, "api_error", "Internal server error"), want: one(infrastructure)},
		{name: "503", every: status(http.StatusServiceUnavailable, "unavailable", "The model is overloaded."), want: one(infrastructure)},
		{name: "529", every: overloaded, want: one(infrastructure)},
		{name: "529 from the second answer on", want: one(infrastructure),
			steps: func(dir string) []step { return []step{{Read: dir + file}, {Instead: overloaded}} }},
		{name: "connection refused", to: "http://127.0.0.1:9", want: one(infrastructure)},
		{name: "name that is not there", to: "http://models.invalid:80", want: one(infrastructure)},
		{name: "stream cut", every: &cut, want: one(infrastructure)},
		{name: "not a byte, idle limit", every: &stall, want: one(infrastructure)},
		{name: "a tool that hangs, time limit", want: one(failure), check: sighting.ended, idle: "30s",
			steps: func(dir string) []step { return []step{{Run: "sleep " + seconds(dir)}} }},
		{name: "unknown flag", flags: "--no-such-flag", want: one(people), check: sighting.names},
		{name: "no login", drop: "KEY", want: one(people), but: map[string]string{"codex": fault, "opencode": stated}},
	}
}

// workTree finds the directory that a prompt names.
var workTree = regexp.MustCompile(`Work in (/[^ ]+), a git work tree`)

// script is what the model does.
func (c trial) script() modeltest.Script {
	return func(r modeltest.Request) modeltest.Turn {
		if c.every != nil {
			return *c.every
		}
		steps := fixed(result(nil))
		if c.steps != nil {
			steps = c.steps
		}
		dir := ""
		if m := workTree.FindSubmatch(r.Body); m != nil {
			dir = string(m[1])
		}
		return modeltest.Steps(steps(dir)...)(r)
	}
}
