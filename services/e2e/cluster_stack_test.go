package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// stuck is what a node has waited for longer than a minute, and is no channel or
// connection: for a lock that somebody does not give back, or for room.
func (n *node) blockedGoroutines() string {
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/stacksz", n.monitor))
	if err != nil {
		return fmt.Sprintf("\n  it does not say what it waits for: %v", err)
	}
	defer answer.Body.Close()
	stacks, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Sprintf("\n  it does not say what it waits for: %v", err)
	}
	var b strings.Builder
	for one := range strings.SplitSeq(string(stacks), "\n\n") {
		head, _, _ := strings.Cut(one, "\n")
		if !strings.Contains(head, "minutes") || !strings.Contains(head, "sync.") || strings.Contains(head, "sync.Cond") {
			continue
		}
		lines := strings.Split(one, "\n")
		fmt.Fprintf(&b, "\n  waits: %s", strings.Join(lines[:min(len(lines), 18)], "\n    "))
	}
	return b.String()
}
