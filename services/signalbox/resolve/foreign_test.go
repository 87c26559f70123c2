package resolve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

// TestMain also runs the agents: programs that know the document in their working
// directory and nothing else of Signalbox. The title says what they do.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "agent" {
		if err := foreign(os.Getenv("SIGNALBOX_ROLE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	confine.Intercept()
	if path, err := os.Executable(); err == nil {
		os.Setenv(confine.Variable, path) // the sandbox serves the machine's build cache by it
	}
	os.Exit(m.Run())
}

// state is the document as a foreign program reads it.
type state map[string]any

func (s state) at(path string) any {
	var now any = map[string]any(s)
	for part := range strings.SplitSeq(path, ".") {
		now = now.(map[string]any)[part]
	}
	return now
}

func (s state) text(path string) string { text, _ := s.at(path).(string); return text }

func (s state) set(path string, value any) {
	i := strings.LastIndexByte(path, '.')
	s.at(path[:i]).(map[string]any)[path[i+1:]] = value
}

func (s state) add(path string, value any) { s.set(path, append(s.at(path).([]any), value)) }

// has reports whether an element of a list has the key, and whether it is true.
func (s state) has(list, key string) bool {
	for _, e := range s.at(list).([]any) {
		if on, _ := e.(map[string]any)[key].(bool); on {
			return true
		}
	}
	return false
}

type object = map[string]any

// foreign does the work of an agent.
func foreign(role string) error {
	const file = "issue-state.json"
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s := state{}
	if err := json.Unmarshal(src, &s); err != nil {
		return err
	}
	switch role {
	case "triage":
		s.triage()
	case "analyst":
		s.analyst()
	case "writer":
		err = s.writer()
	case "reviewer":
		s.reviewer()
	}
	out, merr := json.Marshal(s)
	if err != nil || merr != nil {
		return fmt.Errorf("%w, %w", err, merr)
	}
	return os.WriteFile(file, out, 0o644)
}

func (s state) triage() {
	s.set("triage.completed", true)
	s.set("triage.scope", "MEDIUM")
	if s.text("issue.title") == "triage stops" {
		s.set("triage.should_proceed", false)
		s.set("triage.rejection_reason", "it is no report")
	}
}

func (s state) analyst() {
	for _, q := range s.at("communication.questions").([]any) {
		if q := q.(object); q["to"] == "analyst" && q["answered"] == false {
			q["answered"], q["answer"] = true, "in French"
			return
		}
	}
	s.set("analysis.completed", true)
	s.set("analysis.brief", "Greet.")
	s.set("analysis.test_requirement", object{"required": true, "type": "unit", "location": "greeting_test.txt",
		"description": fmt.Sprintf("what issue %v says, %s", s.at("issue.number"), s.text("issue.url"))})
	s.set("analysis.must_not_do", []string{"Don't modify check.sh"})
}

func (s state) writer() error {
	title, attempt := s.text("issue.title"), int(s.at("pipeline.attempt").(float64))
	greeting, more := fmt.Sprintf("hello, world %d", attempt), map[string]string{"greeting_test.txt": "hello"}
	switch {
	case title == "build fails twice" && attempt < 3:
		greeting = fmt.Sprintf("wrong %d", attempt)
	case title == "must not" && attempt == 1:
		more["check.sh"] = "exit 0\n"
	case title == "question" && !s.has("communication.questions", "answered"), title == "question" &&
		len(s.at("communication.questions").([]any)) < 2:
		s.add("communication.questions", object{"from": "writer", "to": "analyst", "question": "In which language?", "answered": false,
			"answer": nil})
		return errors.Join(os.WriteFile("greeting", []byte("begun\n"), 0o644), os.WriteFile("greeting_test.txt", []byte("bonjour\n"), 0o644))
	case title == "question":
		last := s.at("communication.questions").([]any)
		begun, err := os.ReadFile("greeting")
		if err != nil {
			return err
		}
		greeting, more = fmt.Sprintf("%sbonjour, %v", begun, last[len(last)-1].(object)["answer"]), map[string]string{}
	case title == "forbidden":
		s.set("analysis.brief", "Mine.")
		s.set("review.verdict", "APPROVED")
		s.set("commit.pushed", true)
		s.set("pipeline.status", "completed")
		s.set("pipeline.attempt", 9)
	}
	more["greeting"] = greeting + "\n"
	for name, text := range more {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	s.set("writer.completed", true)
	s.set("writer.summary", fmt.Sprintf("Greets, attempt %d", attempt))
	if feedback := s.text("writer.previous_feedback"); feedback != "" {
		s.add("learnings.observations", object{"agent": "writer", "type": "feedback", "content": feedback})
	}
	return nil
}

func (s state) reviewer() {
	said := 0
	for _, o := range s.at("learnings.observations").([]any) {
		if o.(object)["agent"] == "human" {
			said++
		}
	}
	title, verdict, feedback := s.text("issue.title"), "APPROVED", any(nil)
	switch {
	case title == "rejected":
		verdict, feedback = "REJECTED", fmt.Sprintf("attempt %v is not polite", s.at("pipeline.attempt"))
	case title == "needs info" && said == 0:
		verdict, feedback = "NEEDS_INFO", "Who is greeted?"
	case title == "escalation" && !s.has("communication.escalations", "resolved"):
		s.add("communication.escalations", object{"agent": "reviewer", "reason": "It greets strangers", "requires_human": true,
			"resolved": false})
		return
	}
	s.set("review.completed", true)
	s.set("review.verdict", verdict)
	s.set("review.feedback_for_writer", feedback)
}
