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

// operations converts the attempts of a run for the checker. A command was carried
// out at one moment, however often it was sent: after its first attempt and before
// its first positive reply. A refusal is a reply about its own attempt, and so is
// the state in the reply to a duplicate. For a command without a reply the log
// tells whether it was carried out; its end stays open.
//
// The errors are replies that contradict each other or the log, if there is one.
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
				errs = append(errs, fmt.Errorf("%s was answered commit %d, token %d and commit %d, token %d", s.input, out.Seq, out.NewToken, s.Seq,
					s.NewToken))
			}
			out.Seq, out.NewToken = s.Seq, s.NewToken
			if s.duplicate {
				all = append(all, operation(input{ID: id, Kind: "get", Instance: s.Instance},
					output{Observed: s.Observed, WithoutClaim: s.WithoutClaim}, s.from, s.to))
			} else {
				out.Observed, out.WithoutClaim = s.Observed, s.WithoutClaim
			}
		}
		switch at := log[id]; {
		case out.Seq == 0 && at == 0:
			continue // no reply, and not in the log
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

// assignClients gives overlapping operations different clients, for the
// visualization.
func assignClients(all []porcupine.Operation) []porcupine.Operation {
	var free []int64 // time from which the client is free
	for i := range all {
		lane := slices.IndexFunc(free, func(end int64) bool { return end < all[i].Call })
		if lane < 0 {
			lane, free = len(free), append(free, 0)
		}
		all[i].ClientId, free[lane] = lane, all[i].Return
	}
	return all
}

// checkHistory checks a history and returns what is wrong with it. If it is not
// linearizable, the last error names a file with the visualization.
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

var errNotLinearizable = errors.New("the replies are not those of one instance that carries out one command after the other")
