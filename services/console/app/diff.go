package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/git"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

const (
	maxDiff   = 4 << 20  // bytes that git may print
	shownDiff = 40 << 10 // bytes of lines that a page has
	maxDiffs  = 32       // changes that are kept
	maxBundle = 64 << 20 // bytes of the commits of an instance
)

var errLarge = errors.New("the commits are too large to be shown here: signalbox diff prints the change")

// diffPage is the data of the page of a change.
type diffPage struct {
	frame
	ID, URL  string
	Of       string // the title of the instance
	From, To string
	Tabs     []choice // the whole change, and each attempt
	Files    []changedFile
	Left     int // lines that the page leaves out
}

// changedFile is a file of a change.
type changedFile struct {
	Name           string
	Added, Removed int
	Lines          []diffLine
}

// diffLine is a line of a change, with its numbers before and after it.
type diffLine struct {
	Class, Sign, Text string
	Old, New          int // 0: it is not there
}

// readDiff reads the unified diff of git, and leaves lines out after most bytes of them.
func readDiff(text string, most int) (files []changedFile, left int) {
	var file *changedFile
	before, after, inHunk := 0, 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if names, ok := strings.CutPrefix(line, "diff --git "); ok { // a line of a hunk has a sign first
			files, inHunk = append(files, changedFile{Name: fileName(names)}), false
			file = &files[len(files)-1]
			continue
		}
		if file == nil {
			continue
		}
		if strings.HasPrefix(line, "@@ ") {
			before, after = hunkAt(line)
			inHunk = true
		}
		one := diffLine{Class: "same", Sign: " ", Text: strings.TrimPrefix(line, " ")}
		switch {
		case strings.HasPrefix(line, "@@ "):
			one = diffLine{Class: "hunk", Text: line}
		case !inHunk && (strings.HasPrefix(line, "index ") || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")):
			continue
		case !inHunk, strings.HasPrefix(line, `\`):
			one = diffLine{Class: "hunk", Text: line}
		case strings.HasPrefix(line, "+"):
			one = diffLine{Class: "added", Sign: "+", Text: line[1:], New: after}
			after++
			file.Added++
		case strings.HasPrefix(line, "-"):
			one = diffLine{Class: "removed", Sign: "-", Text: line[1:], Old: before}
			before++
			file.Removed++
		default:
			one.Old, one.New = before, after
			before++
			after++
		}
		one.Text = term.Cut(sanitize.Terminal(one.Text), 4*maxTitle)
		size := len(one.Text) + 60 // of its row
		if one.Class == "same" {
			size *= 2 // it stands in both columns
		}
		if most < size {
			left++
			most = 0 // the page ends here, and not with shorter lines of what follows
			continue
		}
		most -= size
		file.Lines = append(file.Lines, one)
	}
	return files, left
}

// fileName returns the name after a change, given both: a/NAME b/NAME, each quoted where git quotes it.
func fileName(both string) string {
	name := both
	if at := strings.LastIndex(both, ` "b/`); at >= 0 && strings.HasSuffix(both, `"`) {
		if text, err := strconv.Unquote(both[at+1:]); err == nil {
			return strings.TrimPrefix(text, "b/")
		}
	}
	if half := len(both) / 2; len(both)%2 == 1 && both[half] == ' ' && both[:half] == "a/"+strings.TrimPrefix(both[half+1:], "b/") {
		return both[half+3:] // the usual case, whatever is in the name
	}
	if _, b, ok := strings.Cut(name, " b/"); ok {
		name = b
	}
	return strings.TrimPrefix(name, "a/")
}

// diffChunk is lines of a file that stand together: the heading of a hunk, lines that are the same, or those that were removed and
// added at one place.
type diffChunk struct {
	Class string // hunk, same or change
	Lines []diffLine
}

// Chunks returns the lines as two columns show them.
func (f changedFile) Chunks() (all []diffChunk) {
	class := map[string]string{"removed": "change", "added": "change"}
	for i, line := range f.Lines {
		kind := cmp.Or(class[line.Class], line.Class)
		again := i > 0 && f.Lines[i-1].Class == "added" && line.Class == "removed" // another place
		if len(all) == 0 || all[len(all)-1].Class != kind || again {
			all = append(all, diffChunk{Class: kind})
		}
		last := &all[len(all)-1]
		last.Lines = append(last.Lines, line)
	}
	return all
}

// hunkAt returns the first line of a hunk before and after the change: "@@ -3,4 +3,6 @@".
func hunkAt(line string) (before, after int) {
	for part := range strings.FieldsSeq(line) {
		number, _, _ := strings.Cut(part[1:], ",")
		switch n, err := strconv.Atoi(number); {
		case err != nil:
		case part[0] == '-' && before == 0:
			before = n
		case part[0] == '+' && after == 0:
			after = n
		}
	}
	return before, after
}

// heads returns the base and the head of each attempt.
func heads(in *pb.Instance) []string {
	all := []string{in.GetBase()}
	for _, b := range in.GetBundles() {
		if b.GetHead() != all[len(all)-1] {
			all = append(all, b.GetHead())
		}
	}
	return all
}

// diff shows the change of an instance, or what one attempt adds.
func (c *Console) diff(w http.ResponseWriter, r *http.Request, s *session) {
	id := r.PathValue("id")
	if err := subject.CheckInstance(id); err != nil {
		c.fault(w, r, s, http.StatusNotFound, "There is no instance of this name: "+err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 4*patience)
	defer cancel()
	in, err := c.client.Get(ctx, id)
	if err != nil {
		c.unanswered(w, r, s, err)
		return
	}
	all := heads(in)
	at, _ := strconv.Atoi(r.URL.Query().Get("attempt"))
	if len(all) < 2 || at < 0 || at >= len(all) {
		c.fault(w, r, s, http.StatusNotFound, "There is no such change: "+view.Count(len(all)-1, "attempt")+" changed the code.")
		return
	}
	from, to := all[0], in.GetHead()
	if at > 0 {
		from, to = all[at-1], all[at]
	}
	text, err := c.changes.between(ctx, c.client, in, from, to)
	if err != nil {
		c.log.Warn("a change cannot be shown", "instance", id, "error", err)
		c.fault(w, r, s, http.StatusServiceUnavailable, "The change cannot be shown: "+err.Error())
		return
	}
	p := diffPage{ID: id, URL: instanceURL(id), Of: in.GetIssue().GetTitle(), From: from, To: to}
	p.Files, p.Left = readDiff(text, shownDiff)
	address := "/diff" + strings.TrimPrefix(instanceURL(id), "/i")
	p.Tabs = tabs(address, len(all)-1, at)
	p.frame = c.frame(s, "Change of "+id, "")
	p.Live, p.Waiting = false, c.cache.waiting()
	c.pages.show(w, http.StatusOK, "diff", p)
}

// tabs are the addresses of a whole change, and of what each attempt adds; at: the attempt that is shown, 0 for the whole.
func tabs(address string, attempts, at int) []choice {
	all := []choice{{Text: "whole change", URL: address, Chosen: at == 0}}
	for i := 1; i <= attempts; i++ {
		all = append(all, choice{Text: fmt.Sprintf("attempt %d", i), URL: fmt.Sprintf("%s?attempt=%d", address, i), Chosen: at == i})
	}
	return all
}

// between returns the change between two commits as git shows it. git reads the commits in a
// repository of its own, where nothing of the change is configuration.
func (d *changes) between(ctx context.Context, c *client.Client, in *pb.Instance, from, to string) (text string, err error) {
	key := from + ".." + to
	if text, ok := d.kept(key); ok {
		return text, nil
	}
	dir, err := os.MkdirTemp("", "signalbox-console-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g := git.New(dir)
	if _, err := g.Run(ctx, "init", "-q", "--bare"); err != nil {
		return "", err
	}
	room := int64(maxBundle)
	for i, b := range in.GetBundles() {
		n, err := unbundle(ctx, g, c, in.GetInstance(), b.GetObject(), i, room)
		if err != nil {
			return "", err
		}
		room -= n
	}
	out, err := g.Output(ctx, maxDiff, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--patch", from, to)
	if err != nil {
		return "", err
	}
	d.keep(key, string(out))
	return string(out), nil
}

// unbundle fetches the commits of a bundle, which may have room bytes.
func unbundle(ctx context.Context, g git.Runner, c *client.Client, id, name string, n int, room int64) (size int64, err error) {
	r, err := c.GetObject(ctx, client.Holder{Instance: id}, name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := os.CreateTemp(g.Dir(), "bundle-")
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(f, io.LimitReader(r, room+1))
	if err = errors.Join(err, f.Close()); err == nil && size > room {
		err = errLarge
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	_, err = g.Run(ctx, "fetch", "-q", "--no-tags", f.Name(), fmt.Sprintf("+refs/*:refs/bundle/%d/*", n))
	return size, err
}

// changes keeps the changes that were shown last: two commits never differ otherwise. It is safe
// for concurrent use.
type changes struct {
	mu  sync.Mutex
	all map[string]string // the diff by FROM..TO
}

func newChanges() *changes { return &changes{all: map[string]string{}} }

func (d *changes) kept(key string) (text string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok = d.all[key]
	return text, ok
}

func (d *changes) keep(key, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	bound(d.all, maxDiffs)
	d.all[key] = text
}
