package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/client"
)

const (
	maxLive     = 64 << 10 // bytes of output that are kept of a piece of work
	maxLiveLine = 2 << 10  // of a line of it
	maxSent     = 2 * maxLive
)

// live keeps the newest output of a piece of work for people who look at it now. It is cleaned when one asks for it, so that it costs
// little while nobody does. A nil one keeps nothing. It is safe for concurrent use.
type live struct {
	redact redactor

	mu      sync.Mutex
	serve   func() (stop func()) // called at the first output; nil: the work has not begun, or ended
	stop    func()               // nil: nothing is served
	lines   []string
	size    int
	lost    int64
	key     string // the first line of a private key whose end is not lost; empty: none
	version uint64
	clean   client.Output // of its version
}

// show serves the output from its first line to hide. A step that prints nothing costs NATS no subscription.
func (l *live) show(serve func() (stop func())) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serve = serve
}

// hide ends show.
func (l *live) hide() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.serve = nil; l.stop != nil {
		l.stop()
	}
}

// add keeps the lines of a text, in place of the oldest.
func (l *live) add(text string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.serve != nil && l.stop == nil {
		l.stop = l.serve()
	}
	l.version++
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if len(line) > maxLiveLine {
			kept := line[:maxLiveLine]
			kept = kept[:strings.LastIndexAny(kept, " \t\"'=:,")+1] // the scan for credentials does not know the beginning of one
			line = fmt.Sprintf("%s ‹%d bytes left out›", kept, len(line)-len(kept))
		}
		l.lines = append(l.lines, line)
		l.size += len(line) + 1
	}
	n := 0
	for ; l.size > maxLive; n++ {
		l.size -= len(l.lines[n]) + 1
		l.lost += int64(len(l.lines[n]) + 1)
		switch line := l.lines[n]; {
		case strings.Contains(line, "-----END "):
			l.key = ""
		case strings.Contains(line, "-----BEGIN ") && strings.Contains(line, " PRIVATE KEY"):
			l.key = line + "\n"
		}
	}
	if l.lines = l.lines[n:]; cap(l.lines) > 4*len(l.lines)+64 {
		l.lines = slices.Clone(l.lines)
	}
}

// newest returns the output if it is newer than a version.
func (l *live) newest(after uint64) client.Output {
	l.mu.Lock()
	version, lost, text := l.version, l.lost, ""
	if version != after && version != l.clean.Version {
		text = l.key + strings.Join(l.lines, "\n") // the scan for credentials knows a key by its first line
	}
	kept := l.clean
	l.mu.Unlock()
	switch version {
	case after:
		return client.Output{Version: version, Lost: lost}
	case kept.Version:
		return kept
	}
	// Outside of the lock: the brain does not wait for it.
	kept = client.Output{Version: version, Lost: lost, Text: l.cleaned(text)}
	l.mu.Lock()
	l.clean = kept
	l.mu.Unlock()
	return kept
}

// cleaned returns what people may be shown: without credentials, commands to terminals and characters that show nothing.
func (l *live) cleaned(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = readable(line)
	}
	text = coloured.ReplaceAllString(strings.Join(lines, "\n"), "")
	text = commanding.ReplaceAllStringFunc(text, func(s string) string { return fmt.Sprintf("‹%d bytes to the terminal removed›", len(s)) })
	text = sanitize.Terminal(l.redact.text(text))
	if over := len(text) - maxSent; over > 0 {
		text = strings.ToValidUTF8(text[over:], "")
	}
	return text
}

var (
	// coloured are colours and movements of the cursor within the output.
	coloured = lazyregexp.New(`\x1b\[[0-?]*[ -/]*[@-~]`)
	// commanding are titles, links, pictures and other texts that a terminal is given and does not show.
	commanding = lazyregexp.New(`\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?`)
)

// readable returns the texts in a line of JSON, which many programs print for programs; other lines as they are.
func readable(line string) string {
	if !strings.HasPrefix(line, "{") {
		return line
	}
	var value map[string]any
	if json.Unmarshal([]byte(line), &value) != nil {
		return line
	}
	if found := texts(nil, value, 0); len(found) > 0 {
		return strings.Join(found, "\n")
	}
	kind, _ := value["type"].(string)
	return strings.TrimSpace("· " + kind)
}

// texts appends the texts of a JSON value that people read.
func texts(found []string, value any, depth int) []string {
	if depth > 8 {
		return found
	}
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			found = texts(found, one, depth+1)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			text, ok := value[key].(string)
			switch {
			case !ok:
				found = texts(found, value[key], depth+1)
			case text != "" && slices.Contains([]string{"text", "thinking", "content", "command", "file_path", "path", "query", "message", "result", "output", "error"}, key):
				found = append(found, text)
			case key == "name":
				found = append(found, "> "+text)
			}
		}
	}
	return found
}
