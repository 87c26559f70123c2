package bare

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// cache keeps facts about commits by their SHAs. A commit never changes, and the forge
// collects none, so no entry becomes wrong.
type cache[V any] struct {
	mu    sync.Mutex
	known map[string]V
}

const (
	maxKnown  = 10_000  // entries of a cache, before it drops all
	maxOutput = 4 << 10 // bytes of an output that is kept: 40 MB at most for all
)

func (c *cache[V]) get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.known[key]
	return found, ok
}

func (c *cache[V]) put(key string, one V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxKnown {
		c.known = map[string]V{}
	}
	c.known[key] = one
}

// read returns the output of a git command that only reads, with at most max bytes, as Output
// does. Paths are literal. It runs git once for the same arguments if these name commits by whole SHAs
// alone: clients ask for the same few commits at nearly each visit.
func (r Repo) read(ctx context.Context, max int, args ...string) (string, error) {
	key := r.Dir() + "\x00" + strings.Join(args, "\x00")
	if out, ok := r.repos.outputs.get(key); ok {
		return out, nil
	}
	out, err := r.WithEnv("GIT_LITERAL_PATHSPECS=1").Output(ctx, max, args...)
	if err == nil && len(out) <= maxOutput && fixed(args[1:]) {
		r.repos.outputs.put(key, string(out))
	}
	return string(out), err
}

var fixedRevision = lazyregexp.New(`^(\^?[0-9a-f]{40}(\^\{commit\})?|[0-9a-f]{40}\.\.[0-9a-f]{40})$`)

// fixed reports whether the arguments up to "--" are options, and revisions that no ref can change.
func fixed(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return !slices.ContainsFunc(args, func(arg string) bool {
		return !fixedRevision.MatchString(arg) && (!strings.HasPrefix(arg, "-") || slices.Contains(manyRefs, arg))
	})
}

// manyRefs are the options that stand for refs.
var manyRefs = []string{"--all", "--branches", "--tags", "--remotes", "--reflog", "--stdin"}
