package learning

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Standing names its proposer and its confirmation, such as "proposed by the developer
// in acme/widgets/12, confirmed by ann".
func (l Learning) Standing() string {
	var said []string
	if role, agent := instance.AgentRole(l.By); agent {
		said = append(said, "proposed by the "+role+" in "+l.Instance)
	} else if l.Instance != "" {
		said = append(said, "noted by "+person(l.By)+" in "+l.Instance)
	} else if l.ConfirmedBy != l.By {
		said = append(said, "noted by "+person(l.By))
	}
	if l.ConfirmedBy != "" {
		said = append(said, "confirmed by "+person(l.ConfirmedBy))
	}
	switch n := len(l.Successes); {
	case n == 1:
		said = append(said, "there when work ended well once")
	case n > 1:
		said = append(said, fmt.Sprintf("there when work ended well %d times", n))
	}
	if !l.confirmed() {
		said = append(said, "not confirmed")
		if !l.Trusted {
			said = append(said, "where a person spoke who may not write to the repository, or of whom that is not known")
		}
	}
	switch l.State {
	case StateAged:
		said = append(said, "nothing since "+l.last().UTC().Format(time.DateOnly))
	case StateDisplaced:
		said = append(said, fmt.Sprintf("%d others go before it", MaxKept))
	case StateRemoved:
		said = append(said, "removed by "+person(l.RemovedBy))
	}
	return strings.Join(said, ", ")
}

// person returns the name of an actor who is one: "ann" of "operator:ann".
func person(actor string) string {
	if _, name, ok := strings.Cut(actor, ":"); ok && name != "" {
		return name
	}
	return actor
}
