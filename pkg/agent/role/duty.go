package role

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// ParseDuties reads the values of --duty, STATE=DUTY, by state. The flag is from
// before states said themselves what their work is; it counts where they do not.
func ParseDuties(values []string) (map[string]workflow.WorkSpec, error) {
	set := map[string]func(*workflow.WorkSpec){
		"tests":   func(w *workflow.WorkSpec) { w.Runs = workflow.RunsTests },
		"checks":  func(w *workflow.WorkSpec) { w.Runs = workflow.RunsChecks },
		"accepts": func(w *workflow.WorkSpec) { w.Runs = workflow.RunsCriteria },
		"judges":  func(w *workflow.WorkSpec) { w.Change = workflow.ChangeDropped },
		"changes": func(w *workflow.WorkSpec) { w.Change = workflow.ChangeRequired },
	}
	work := map[string]workflow.WorkSpec{}
	for _, v := range values {
		state, list, found := strings.Cut(v, "=")
		var names []string
		var w workflow.WorkSpec
		for name := range strings.SplitSeq(list, ",") {
			if !found || state == "" || set[name] == nil {
				return nil, fmt.Errorf("--duty %q: want STATE=DUTY, with one or several of %s", v, strings.Join(slices.Sorted(maps.Keys(set)), ", "))
			}
			set[name](&w)
			names = append(names, name)
		}
		judges := slices.ContainsFunc(names, func(n string) bool { return n != "changes" && n != "accepts" })
		if judges && (slices.Contains(names, "changes") || slices.Contains(names, "accepts")) {
			return nil, fmt.Errorf("--duty %q: where something is judged, what is changed is dropped", v)
		}
		work[state] = w
	}
	return work, nil
}
