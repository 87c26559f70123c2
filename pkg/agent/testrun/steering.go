package testrun

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// SameSteering reports whether two versions of a manifest say the same of how the package is
// built and tested. Its dependencies and its name do not count. A version that
// cannot be read is taken whole.
func SameSteering(base string, before, now []byte) bool {
	if before == nil || now == nil {
		return false
	}
	switch base {
	case "package.json":
		return SameHarness(before, now)
	case "pom.xml":
		a, okA := steeringXML(before)
		b, okB := steeringXML(now)
		return okA && okB && a == b || bytes.Equal(before, now)
	}
	a, okA := steeringLines(base, string(before))
	b, okB := steeringLines(base, string(now))
	return okA && okB && slices.Equal(a, b) || bytes.Equal(before, now)
}

var (
	// ownSection matches sections that only say what a package needs and is called. A name in
	// quotes, or in any form that is not plain, is none of them.
	ownSection = map[string]*lazyregexp.Regexp{
		"pyproject.toml": lazyregexp.New(`^\[(?:project(?:\.(?:optional-dependencies|urls|scripts|gui-scripts))?|dependency-groups|tool\.poetry(?:\.(?:group\.\w+\.)?dependencies|\.dev-dependencies|\.extras)?)\]$`),
		"setup.cfg":      lazyregexp.New(`^\[(?:metadata|options|options\.(?:extras_require|packages\.find|package_data))\]$`),
		"Cargo.toml":     lazyregexp.New(`^\[(?:package|features|(?:(?:dev-|build-)?dependencies|workspace\.dependencies)(?:\.[\w-]+)?|target\.[\w-]+\.dependencies)\]$`),
	}
	// steeringKey matches keys of these sections that steer tools all the same.
	steeringKey = lazyregexp.New(`^["']?(?:entry[-_]points|build|autotests|autobins|autobenches|autoexamples|links|workspace|metadata|include|exclude|packages|dynamic|cmdclass|setup_requires|default-run)\b`)
	header      = lazyregexp.New(`^\[.*\]\s*(?:#.*)?$`)
)

// steeringLines returns the lines of a manifest that are not of sections of their own. ok is
// false if a line may hide another one: of a text over several lines.
func steeringLines(base, content string) (lines []string, ok bool) {
	if strings.Contains(content, `"""`) || strings.Contains(content, "'''") {
		return nil, false
	}
	own, of := false, ""
	for line := range strings.Lines(content) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
			continue
		case header.MatchString(trimmed):
			name, _, _ := strings.Cut(trimmed, "#")
			own, of = ownSection[base].MatchString(strings.TrimSpace(name)), trimmed
			if !own {
				lines = append(lines, trimmed)
			}
		case own && !(steeringKey.MatchString(trimmed) && (base != "setup.cfg" || line == strings.TrimLeft(line, " \t"))):
		default:
			lines = append(lines, of+trimmed)
		}
	}
	return lines, true
}

// ownElement are the elements below project of a pom.xml that only say what it needs and is
// called.
var ownElement = []string{"dependencies", "dependencyManagement", "version", "name", "description", "url", "licenses", "developers", "scm",
	"inceptionYear", "issueManagement", "organization"}

// steeringXML returns a pom.xml without the elements of its own.
func steeringXML(content []byte) (string, bool) {
	in := xml.NewDecoder(bytes.NewReader(content))
	in.Strict = true
	var out strings.Builder
	var path []string
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return out.String(), len(path) == 0
		}
		if err != nil {
			return "", false
		}
		own := len(path) > 1 && slices.Contains(ownElement, path[1])
		switch t := token.(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
			if own = len(path) > 1 && slices.Contains(ownElement, path[1]); !own {
				out.WriteString("<" + t.Name.Local + ">")
			}
		case xml.EndElement:
			path = path[:len(path)-1]
			if !own {
				out.WriteString("</>")
			}
		case xml.CharData:
			if text := strings.TrimSpace(string(t)); text != "" && !own {
				out.WriteString(text)
			}
		}
	}
}
