package workspace

import (
	"context"
	"strings"
	"sync"
)

// maxKnown limits the bytes that a Cache remembers.
const maxKnown = 64 << 20

// maxList limits the bytes of a list of files.
const maxList = 256 << 20

// outputs has what git printed about objects named by their ids. Objects never change, so a Cache runs
// git once for each. Any number of goroutines may use it; the zero value is ready.
type outputs struct {
	mu   sync.Mutex
	all  map[string]string // by repository and arguments
	size int               // bytes
}

func (o *outputs) get(key string) (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out, ok := o.all[key]
	return out, ok
}

// put remembers an output. All others are forgotten where there is no room for it.
func (o *outputs) put(key, out string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil || o.size+len(key)+len(out) > maxKnown {
		o.all, o.size = map[string]string{}, 0
	}
	if len(key)+len(out) > maxKnown {
		return
	}
	if _, ok := o.all[key]; !ok {
		o.all[key], o.size = out, o.size+len(key)+len(out)
	}
}

// fixed runs git on objects named by their ids, and returns its output. The arguments name each object by
// its whole id.
func (r repository) fixed(ctx context.Context, max int, args ...string) (string, error) {
	if out, ok := r.known.get(r.key(args)); ok {
		return out, nil
	}
	raw, err := r.git.Output(ctx, max, args...)
	out := string(raw)
	if err == nil {
		r.remember(args, out)
	}
	return out, err
}

// remember keeps an output for fixed.
func (r repository) remember(args []string, out string) { r.known.put(r.key(args), out) }

func (r repository) key(args []string) string { return r.dir + "\x00" + strings.Join(args, "\x00") }

// files lists the files of a commit, as git ls-tree prints them: mode, type and id, a tab, the path,
// a zero byte. The commit may be a reference.
func (r repository) files(ctx context.Context, commit string) (string, error) {
	if !commitID.MatchString(commit) { // it may move
		raw, err := r.git.Output(ctx, maxList, lsTree(commit)...)
		return string(raw), err
	}
	return r.fixed(ctx, maxList, lsTree(commit)...)
}

// lsTree returns the arguments of git that list the files of a commit.
func lsTree(commit string) []string { return []string{"ls-tree", "-r", "-z", "--full-tree", commit} }
