package e2e

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// operations are the sends of a run as the checker takes them. However often a
// command was sent, it was carried out at one moment: after the first send that
// may have done it, and before the first answer that says so. A refusal is an
// answer about the moment of its own send, and so is what a later answer to the
// same command says of the instance. Of a command without an answer the log tells
// whether it was carried out; its end stays open.
//
// The errors are answers that contradict each other or the log, if there is one.
func operations(sends []attempt, log map[string]uint64) (all []porcupine.Operation, errs []error) {
	commands := map[string][]attempt{}
	var ids []string
	for _, s := range sends {
		switch {
		case s.Kind == "get" && s.answered, s.answered && s.Code != "":
			all = append(all, operation(s.input, s.output, s.from, s.to))
		case s.Kind != "get":
			if commands[s.ID] == nil {
				ids = append(ids, s.ID)
			}
			commands[s.ID] = append(commands[s.ID], s)
		}
	}
	for _, id := range ids {
		tries := commands[id]
		from, to := tries[0].from, time.Duration(math.MaxInt64)
		var out output
		for _, s := range tries {
			from = min(from, s.from)
			if !s.answered {
				continue
			}
			to = min(to, s.to)
			if out.Seq != 0 && (s.Seq != out.Seq || s.NewToken != out.NewToken) {
				errs = append(errs, fmt.Errorf("%s was answered commit %d, token %d and commit %d, token %d", s.input, out.Seq, out.NewToken, s.Seq, s.NewToken))
			}
			out.Seq, out.NewToken = s.Seq, s.NewToken
			if s.duplicate {
				all = append(all, operation(input{ID: id, Kind: "get", Instance: s.Instance}, output{Observed: s.Observed, WithoutClaim: s.WithoutClaim}, s.from, s.to))
			} else {
				out.Observed, out.WithoutClaim = s.Observed, s.WithoutClaim
			}
		}
		switch at := log[id]; {
		case out.Seq == 0 && at == 0:
			continue // nobody heard of it, and it never was
		case out.Seq == 0:
			out.Seq = at
		case out.Seq != at && log != nil:
			errs = append(errs, fmt.Errorf("%s was answered commit %d, the log has it as %d", tries[0].input, out.Seq, at))
		}
		all = append(all, operation(tries[0].input, out, from, to))
	}
	slices.SortFunc(all, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	return assignClients(all), errs
}

func operation(in input, out output, from, to time.Duration) porcupine.Operation {
	return porcupine.Operation{Input: in, Output: out, Call: int64(from), Return: int64(to)}
}

// apart gives operations that overlap different clients, for the eye.
func assignClients(all []porcupine.Operation) []porcupine.Operation {
	var free []int64 // from when on
	for i := range all {
		lane := slices.IndexFunc(free, func(end int64) bool { return end < all[i].Call })
		if lane < 0 {
			lane, free = len(free), append(free, 0)
		}
		all[i].ClientId, free[lane] = lane, all[i].Return
	}
	return all
}

// judge checks a history and names what is wrong with it. Of one that is not
// linearizable the last error says in which file it can be looked at.
func checkHistory(all []porcupine.Operation, errs []error, patience time.Duration) []error {
	spec := specification()
	result, info := porcupine.CheckOperationsVerbose(spec, all, patience)
	switch result {
	case porcupine.Ok:
		return errs
	case porcupine.Unknown:
		return append(errs, fmt.Errorf("whether %d operations are linearizable was not found out in %s", len(all), patience))
	}
	f, err := os.CreateTemp("", "signalbox-linear-*.html")
	if err != nil {
		return append(errs, errNotLinearizable, err)
	}
	defer f.Close()
	return append(errs, fmt.Errorf("%w: see %s", errNotLinearizable, f.Name()), porcupine.Visualize(spec, info, f))
}

var errNotLinearizable = errors.New("the answers are not those of one instance that does one thing after the other")
