package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// ErrTimeLimit marks a program that was stopped at a limit of time.
var ErrTimeLimit = errors.New("time limit")

// notTried is the exit code of a program that did not try the work: EX_TEMPFAIL
// of sysexits.h.
const notTried = 75

const (
	maxResult  = 16 << 20 // bytes of a result file; its values are cut
	maxSummary = 16 << 10 // bytes of a summary
	maxObject  = 64 << 10 // bytes of a result at the end of a message
	lastLines  = 20       // of the output, quoted with a failure
	lastBytes  = 4 << 10
)

// judge returns the outcome. It is a success only if the exit code, the program's
// own report and the stated result agree.
func judge(p Program, run sandbox.Result, f files, said *answer, out brain.Outcome) (brain.Outcome, error) {
	if run.TimedOut != "" {
		text := fmt.Sprintf("%s was %s%s", p.Name, run, p.words(run, said))
		if p.read != nil && said.waits() {
			return out, said.outside(text) // it waited for its model until the limit
		}
		return out, fmt.Errorf("%w: %s", ErrTimeLimit, text)
	}
	stated, declared, invalid := statement(f, said)
	if declared && (stated.Result.Status != instance.Success || (run.OK() && !said.failed)) {
		wall := out.Result.Spend.WallMS
		if stated.Result.Spend == (instance.Cost{}) {
			stated.Result.Spend = out.Result.Spend
		}
		stated.Result.Spend.WallMS, stated.Output = wall, out.Output
		if stated.Result.Summary == "" {
			stated.Result.Summary = summary(said, p.printed(run, said))
		}
		return stated, nil
	}
	if !run.OK() || said.failed {
		return out, failure(p, run, said, errors.Join(invalid, contradiction(declared)))
	}
	if invalid == nil && (said.ended && !said.began || said.limited) { // as if it had worked
		return out, said.outside(p.Name + ": its model did not answer" + p.words(run, said))
	}
	out.Result.Status, out.Result.ConfidenceScore, out.Result.Summary = instance.Success, 1, summary(said, p.printed(run, said))
	if out.Unreadable = errors.Is(invalid, brain.ErrInvalidResult); invalid != nil {
		return out, fmt.Errorf("%s: %w", p.Name, invalid)
	}
	return out, nil
}

func contradiction(declared bool) error {
	if declared {
		return errors.New("though the result it wrote is success")
	}
	return nil
}

// failure returns the error of a run without a result. It wraps brain.ErrInfrastructure
// or brain.ErrUnusable if a status says that the work is not the cause.
func failure(p Program, run sandbox.Result, said *answer, more error) error {
	how := run.String()
	if run.OK() {
		how = "reported an error"
	} else if status := p.statusOf(run); status != 0 {
		how = fmt.Sprintf("exit code %d, for HTTP status %d", run.ExitCode, status)
		said.status = status
	}
	text := fmt.Sprintf("%s: %s", p.Name, how)
	if more != nil {
		text += ", " + strings.ReplaceAll(more.Error(), "\n", ", ")
	}
	text += p.words(run, said)
	switch remedy := p.remedy(run, said); {
	case run.ExitCode == notTried:
		return fmt.Errorf("%w: %s", brain.ErrInfrastructure, text)
	case remedy != "":
		return fmt.Errorf("%w: %s: %s", brain.ErrUnusable, remedy, text)
	case p.read != nil && said.passes(run):
		return said.outside(text)
	case errors.Is(more, brain.ErrInvalidResult):
		return fmt.Errorf("%s (%w)", text, brain.ErrInvalidResult)
	}
	return errors.New(text)
}

// statement returns the program's stated result: from its file, else from its
// structured output, else from the end of its text.
func statement(f files, said *answer) (stated brain.Outcome, declared bool, err error) {
	text, err := readResult(f.result)
	if err != nil {
		return stated, false, err
	}
	if text != nil {
		if text = inFile(text); len(text) == 0 {
			text = nil // an empty file states nothing
		}
	}
	if text == nil && len(said.structured) > 0 && string(said.structured) != "null" {
		text = said.structured
	}
	if text == nil {
		text = lastObject(said.text, maxObject)
	}
	if text == nil {
		text = fenced(said.text, maxObject)
	}
	if text == nil {
		return stated, false, nil
	}
	stated, err = brain.ReadResult(text)
	stated.Result.Summary = withoutFooters(stated.Result.Summary)
	return stated, err == nil, err
}

// readResult returns the result file, or nil if there is none. The program may
// have put anything in its place.
func readResult(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the file cannot be opened: want a plain file", brain.ErrInvalidResult)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: the file is no plain file", brain.ErrInvalidResult)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxResult+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	if len(text) > maxResult {
		return nil, fmt.Errorf("%w: the file is larger than %d bytes", brain.ErrInvalidResult, maxResult)
	}
	return text, nil
}

// lastObject returns the JSON object at the end of a text, in a code fence or not,
// if its status is one of a result. It reads the last most bytes.
func lastObject(text string, most int) []byte {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "```"))
	text = text[max(len(text)-most, 0):]
	if !strings.HasSuffix(text, "}") {
		return nil
	}
	for from := 0; ; from++ {
		i := strings.IndexByte(text[from:], '{')
		if i < 0 {
			return nil
		}
		from += i
		var v struct {
			Status instance.Status `json:"status"`
		}
		if json.Unmarshal([]byte(text[from:]), &v) != nil {
			continue
		}
		switch instance.Status(strings.ToLower(strings.TrimSpace(string(v.Status)))) {
		case instance.Success, instance.Failure, instance.Blocked:
			return []byte(text[from:])
		}
		return nil
	}
}

// summary returns the last message, or else the last line printed, without footers.
func summary(said *answer, output []byte) string {
	text := withoutFooters(prose(said.text))
	if text == "" {
		text = withoutFooters(string(output))
		text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	}
	return strings.ToValidUTF8(text[:min(len(text), maxSummary)], "")
}

// tail returns the end of the output, to be appended to a message whose first line people
// see: the last line, which tends to have the reason, is on it, and the lines up to it follow.
func tail(output []byte) string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(output[max(len(output)-lastBytes, 0):]), ""))
	if text == "" {
		return "; it printed nothing"
	}
	lines := strings.Split(text, "\n")
	last := "; its last line: " + strings.TrimSpace(lines[len(lines)-1])
	if len(lines) == 1 {
		return last
	}
	return last + "\n" + strings.Join(lines[max(len(lines)-lastLines, 0):], "\n")
}
