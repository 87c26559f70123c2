package bare

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Move is a move of a branch. The zero SHA stands for a branch that does not exist.
type Move struct {
	Ref           string // full
	Before, After string
	Forced        bool // After does not contain Before
}

// maxMoves limits the moves of one push that are on record.
const maxMoves = 1000

var shaPattern = lazyregexp.New(`^[0-9a-f]{40}$`)

const zeroSHA = "0000000000000000000000000000000000000000"

// pushReader reads from the start of a push's body which branches it is to move. The
// start is packet lines "before after ref" up to the first empty one.
type pushReader struct {
	rest  []byte
	ended bool
	moves []Move
}

// Write implements io.Writer. It never fails.
func (m *pushReader) Write(p []byte) (int, error) {
	if !m.ended {
		m.rest = append(m.rest, p...)
	}
	for !m.ended && len(m.rest) >= 4 {
		length, err := strconv.ParseUint(string(m.rest[:4]), 16, 16)
		if err != nil || length < 4 {
			m.ended, m.rest = true, nil
			break
		}
		if len(m.rest) < int(length) {
			break
		}
		line, _, _ := bytes.Cut(m.rest[4:length], []byte{0})
		m.rest = m.rest[length:]
		part := strings.Fields(string(line))
		if len(part) == 3 && shaPattern.MatchString(part[0]) && shaPattern.MatchString(part[1]) &&
			strings.HasPrefix(part[2], "refs/heads/") && len(m.moves) < maxMoves {
			m.moves = append(m.moves, Move{Before: part[0], After: part[1], Ref: part[2]})
		}
	}
	return len(p), nil
}

// made returns those of the moves that git has made.
func (r Repo) made(ctx context.Context, wanted []Move) ([]Move, error) {
	refs, err := r.Refs(ctx)
	if err != nil {
		return nil, err
	}
	var made []Move
	for _, m := range wanted {
		now := refs[m.Ref]
		if now == "" {
			now = zeroSHA
		}
		if now != m.After {
			continue
		}
		if m.Before != zeroSHA && m.After != zeroSHA {
			forward, err := r.Contains(ctx, m.After, m.Before)
			if err != nil {
				return nil, err
			}
			m.Forced = !forward
		}
		made = append(made, m)
	}
	return made, nil
}
