package allowance

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// nameSize is the size of a name in bytes, half of its digits.
const nameSize = sha256.Size

// Name returns the name of a holder for others: a hash of what tells it from all others, from
// which that cannot be found.
func Name(of ...string) string {
	sum := sha256.Sum256([]byte("allowance\n" + strings.Join(of, "\n")))
	return hex.EncodeToString(sum[:])
}
