package cli

import (
	"context"
	"fmt"
	"strings"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

const (
	maxWork   = 50 // pieces of work whose last fault is looked for
	maxFaults = 3  // of those with one
)

// faults names the work that came back because of the machinery, such as a brain that printed
// nothing, and the newest reason of each.
func (s system) faults(ctx context.Context, env *term.Env) finding {
	all, err := s.List(ctx, &pb.ListRequest{Limit: 1000})
	if err != nil {
		return finding{"", worry, "not checked: " + err.Error(), ""}
	}
	var named []string
	examined, faulty := 0, 0
	for _, one := range all {
		if one.GetWorker() == "" {
			continue
		}
		if examined++; examined > maxWork {
			break
		}
		got, err := s.Get(ctx, one.GetInstance())
		if err != nil {
			return finding{"", worry, "not checked: " + err.Error(), ""}
		}
		in, err := rested(ctx, env, s, got)
		if err != nil {
			return finding{"", worry, "not checked: " + err.Error(), ""}
		}
		why := ""
		switch {
		case in.LastFault != nil:
			why = fmt.Sprintf("%s gave it back %s ago: %s", in.LastFault.Agent, env.Since(in.LastFault.At), in.LastFault.Reason)
		case in.Paused && in.Faults > 0:
			why = "it is paused: " + in.Reason
		default:
			continue
		}
		if faulty++; faulty <= maxFaults {
			named = append(named, fmt.Sprintf("%s in %s, %s", in.Instance, in.State, why))
		}
	}
	if faulty == 0 {
		detail := "none came back because of the machinery"
		if examined > maxWork {
			detail += fmt.Sprintf(", of the first %d pieces", maxWork)
		}
		return finding{"", fine, detail, ""}
	}
	return finding{"", worry, view.Count(faulty, "piece") + " of work came back because of the machinery: " + strings.Join(named, "; "),
		"each is tried again, and paused after some tries; `signalbox explain ID` shows more"}
}
