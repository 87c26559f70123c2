package app

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// failing returns the red checks that the implementer has not looked at on this head, if
// the policy wants them mended.
func (t *visit) failing() []merge.Check {
	if !t.job.yes("mend_checks") {
		return nil
	}
	var all []merge.Check
	red := merge.Failing(t.snapshot, t.rules())
	if c, out := t.unqueued(); out {
		red = append(red, c)
	}
	for _, c := range red {
		if !slices.Contains(t.snapshot.Seen, t.checkKey(c)) {
			all = append(all, c)
		}
	}
	return all
}

// checkKey returns the key of a check on the head as a remark. A second run of the check
// on the same commit has the same.
func (t *visit) checkKey(c merge.Check) string {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s\x00%s\x00%s", t.snapshot.Head, c.Kind, c.Name)
	return fmt.Sprintf("check %d", sum.Sum64())
}

// The limits of a failure in a question.
const (
	maxFailing     = 5    // checks
	maxCheckLines  = 20   // annotations
	maxCheckWords  = 300  // bytes of one
	maxCheckReport = 2000 // bytes of the check's own summary
)

// failed is a red check as the implementer is shown it.
type failed struct {
	Key  string
	Text string // of others
}

// failures reads why the checks failed.
func (t *visit) failures(ctx context.Context, checks []merge.Check) ([]failed, error) {
	var all []failed
	for _, c := range checks[:min(len(checks), maxFailing)] {
		var why forge.Failure
		if c.ID != 0 {
			var err error
			if why, err = t.forge.Failure(ctx, t.snapshot.Repo, c.ID); err != nil {
				return nil, err
			}
		}
		all = append(all, failed{t.checkKey(c), explained(c, why)})
	}
	return all, nil
}

// explained returns what is known of a failure: the name first, the log last.
func explained(c merge.Check, why forge.Failure) string {
	short := func(s string, most int) string {
		if len(s) > most {
			s = strings.ToValidUTF8(s[:most], "") + " […]"
		}
		return s
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s: %s\n", c.Kind, short(c.Name, maxCheckWords), c.State)
	for _, line := range []string{short(c.Note, maxCheckWords), c.URL} {
		if line != "" {
			fmt.Fprintf(&out, "%s\n", line)
		}
	}
	if why.Summary != "" {
		fmt.Fprintf(&out, "\n%s\n", short(why.Summary, maxCheckReport))
	}
	if len(why.Annotations) > 0 {
		out.WriteString("\n")
	}
	for _, a := range why.Annotations[:min(len(why.Annotations), maxCheckLines)] {
		says := strings.TrimSpace(strings.Join([]string{a.Title, a.Message}, " "))
		fmt.Fprintf(&out, "%s:%d: %s: %s\n", a.Path, a.Line, a.Level, short(strings.Join(strings.Fields(says), " "), maxCheckWords))
	}
	if why.Log != "" {
		fmt.Fprintf(&out, "\nthe end of its log:\n%s\n", why.Log)
	}
	return out.String()
}

// details returns the address of a check's details if it is one for a browser.
func details(c merge.Check) (string, bool) {
	at, err := url.Parse(c.URL)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" {
		return "", false
	}
	return at.String(), true
}
