package workspace

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// secrets are what the common credentials look like. A line without one of the
// marks is not looked at further: most lines have none, and that is told fast.
var secrets = []struct {
	what    string
	marks   []string
	pattern *regexp.Regexp
}{
	{"a private key", []string{"PRIVATE KEY"}, regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----`)},
	{"a GitHub token", []string{"gho_", "ghp_", "ghr_", "ghs_", "ghu_"}, regexp.MustCompile(`\bgh[oprsu]_[A-Za-z0-9]{36}`)},
	{"a GitHub token", []string{"github_pat_"}, regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{40}`)},
	{"a GitLab token", []string{"glpat-"}, regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20}`)},
	{"an AWS access key", []string{"AKIA", "ASIA"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{"an Anthropic key", []string{"sk-ant-"}, regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{20}`)},
	{"an OpenAI key", []string{"sk-"}, regexp.MustCompile(`\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40}|\bsk-[A-Za-z0-9]{48}\b`)},
	{"a Slack token", []string{"xox"}, regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10}`)},
	{"a Google API key", []string{"AIza"}, regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}`)},
	{"a Stripe key", []string{"k_live_"}, regexp.MustCompile(`\b[rs]k_live_[A-Za-z0-9]{24}`)},
	{"an npm token", []string{"npm_"}, regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}`)},
	{"a NATS seed", []string{"SA", "SC", "SN", "SO", "SU", "SX"}, regexp.MustCompile(`\bS[ACNOUX][A-Z2-7]{56}\b`)},
}

// longLine is how much of one line is looked at at a time; each part begins
// with the overlap of the part before, so that no secret falls between.
const longLine, overlap = 64 << 10, 1 << 10

var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// scanner finds secrets in the added lines of a patch without context that is
// written to it. It holds one line, or a part of a long one.
type scanner struct {
	report   func(Violation)
	path     string
	line     int // number of the next added line
	old, new int // lines left in the hunk
	buf      []byte
	part     bool // buf began in the middle of a line
}

func (s *scanner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			s.buf = append(s.buf, p...)
			if len(s.buf) > longLine {
				s.look(false)
			}
			break
		}
		s.buf = append(s.buf, p[:end]...)
		s.look(true)
		p = p[end+1:]
	}
	return n, nil
}

func (s *scanner) finish() {
	if len(s.buf) > 0 {
		s.look(true)
	}
}

// look takes what is in the buffer: a line, or the rest of one, when whole.
func (s *scanner) look(whole bool) {
	line := s.buf
	inHunk := s.old > 0 || s.new > 0
	added := inHunk && (s.part || bytes.HasPrefix(line, []byte("+")))
	switch {
	case added:
		s.scan(line)
	case !inHunk && bytes.HasPrefix(line, []byte("+++ ")):
		name := strings.TrimSuffix(string(line[4:]), "\t") // git ends names with spaces so
		if unquoted, err := strconv.Unquote(name); err == nil {
			name = unquoted
		}
		s.path = strings.TrimPrefix(name, "b/")
	case !inHunk:
		if m := hunk.FindSubmatch(line); m != nil {
			s.old, s.line, s.new = count(m[1]), count(m[2]), count(m[3])
		}
	}
	if !whole {
		// Only an added line has to be remembered as such.
		s.part = added
		keep := line[len(line)-overlap:]
		if inHunk && !added {
			keep = append([]byte{line[0]}, keep...)
		}
		s.buf = append(s.buf[:0], keep...)
		return
	}
	switch {
	case !inHunk:
	case added:
		s.new--
		s.line++
	case bytes.HasPrefix(line, []byte("-")):
		s.old--
	}
	s.buf, s.part = s.buf[:0], false
}

func (s *scanner) scan(line []byte) {
	for _, secret := range secrets {
		if !slices.ContainsFunc(secret.marks, func(mark string) bool { return bytes.Contains(line, []byte(mark)) }) {
			continue
		}
		if m := secret.pattern.Find(line); m != nil && !bytes.HasSuffix(m, []byte("EXAMPLE")) {
			s.report(Violation{Rule: "secret", Path: s.path, Line: s.line, Detail: fmt.Sprintf("looks like %s", secret.what)})
		}
	}
}

// count reads a number of a hunk's header, 1 when it is left out.
func count(b []byte) int {
	if len(b) == 0 {
		return 1
	}
	n, _ := strconv.Atoi(string(b))
	return n
}
