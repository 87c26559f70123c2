package secret

import (
	"slices"
	"strings"
	"sync"
)

// maxIssued limits the credentials that Issued remembers. A step has one, and what is
// recorded of it is scanned when it ends.
const maxIssued = 256

// Issued are the newest credentials that this process made, for a time each. The zero
// Issued has none. It is safe for concurrent use.
type Issued struct {
	mu  sync.Mutex
	all []string
}

// Add adds a credential. Short ones are left out.
func (i *Issued) Add(credential string) {
	if credential = strings.TrimSpace(credential); len(credential) < minOwn {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = append(i.all, credential)
	i.all = i.all[max(0, len(i.all)-maxIssued):]
}

func (i *Issued) list() []string {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.all)
}

// WithIssued returns a scanner that also finds what is added to the credentials, also
// later.
func (s *Scanner) WithIssued(i *Issued) *Scanner {
	more := *s
	more.issued = i
	return &more
}
