package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// maxDemoRows is how many lines of each output a pull request has.
const maxDemoRows = 20

// demoOf returns the demonstration of the work's newest commit; nil if there is none.
func demoOf(a brain.Assignment) *instance.Demo {
	for _, ev := range slices.Backward(a.Evidence) {
		if ev.Demo != nil && ev.Demo.Change.Commit == a.Head {
			return ev.Demo
		}
	}
	return nil
}

// demonstration is a demonstration as Markdown, the output on the base next to that on the change.
func demonstration(d *instance.Demo) string {
	if d == nil {
		return ""
	}
	was, is := outputLines(d.Base), outputLines(d.Change)
	var b strings.Builder
	fmt.Fprintf(&b, "| before, on %s | after, on %s |\n|---|---|\n", code(short(d.Base.Commit)), code(short(d.Change.Commit)))
	fmt.Fprintf(&b, "| %s | %s |\n", cell(d.Base.Ended), cell(d.Change.Ended))
	rows := max(len(was), len(is))
	for i := range min(rows, maxDemoRows) {
		b.WriteString("| " + lineAt(was, i) + " | " + lineAt(is, i) + " |\n")
	}
	if rows > maxDemoRows {
		fmt.Fprintf(&b, "\n… and %d more lines\n", rows-maxDemoRows)
	}
	return b.String()
}

// outputLines are the lines that a run printed; none if it printed nothing.
func outputLines(r instance.DemoRun) []string {
	if strings.TrimSpace(r.Output) == "" {
		return nil
	}
	return strings.Split(strings.TrimRight(r.Output, "\n"), "\n")
}

// lineAt is a line as code in a cell.
func lineAt(lines []string, i int) string {
	if i >= len(lines) || strings.TrimSpace(lines[i]) == "" {
		return ""
	}
	return codeCell(lines[i])
}

// photographed says where the pictures of a demonstration are, or why there are none.
func photographed(d *instance.Demo) string {
	if d == nil || d.Page == "" {
		return ""
	}
	of := func(r instance.DemoRun) string {
		if r.Picture == nil {
			return "none, " + cell(r.NoPicture)
		}
		return code("sha256:" + short(r.Picture.SHA256))
	}
	return fmt.Sprintf("Pictures of %s, which the console shows: before %s; after %s.", code(d.Page), of(d.Base), of(d.Change))
}
