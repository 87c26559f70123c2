package view

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// why says in a sentence what stands in the way, and which commands help.
func why(env *term.Env, in Instance) (string, []string) {
	help := func(commands ...string) []string {
		for i, c := range commands {
			verb, rest, _ := strings.Cut(c, " ")
			commands[i] = strings.TrimRight("signalbox "+verb+" "+in.Instance+" "+rest, " ")
		}
		return commands
	}
	switch {
	case in.Closed == instance.Cancelled:
		return "It was cancelled: " + in.Reason + ". Nothing moves it any more.", nil
	case in.Closed != "":
		return "It has ended: " + in.Reason + ". Nothing moves it any more.", nil
	case in.Paused:
		return "It is paused: " + in.Reason + ". Nobody is given its work until it is resumed.", help("resume", "cancel")
	case in.held():
		e, _ := in.Held()
		return fmt.Sprintf("%s put it to people %s ago: %s. It goes on when somebody resolves that.", e.Agent, env.Since(e.At), e.Reason), help("answer TEXT", "cancel")
	case in.Parked != nil:
		return fmt.Sprintf("It is parked%s: %s. A signal may end that before.", in.Parked.until(env), in.Parked.Reason), help("retry")
	case in.waitingOn() != "":
		return "It comes after " + in.waitingOn() + ".", help("cancel")
	case in.Worker != "" && in.Worker != in.Owner && !in.Working(env.Now()):
		return fmt.Sprintf("%s is asked something, and nobody has taken that: no %s runs, or all have other work.", in.Worker, in.Worker), append(help("retry"), "signalbox doctor")
	case in.Kind == workflow.Wait:
		text := fmt.Sprintf("It has waited for people for %s, with %s open", env.Since(in.EnteredAt), Count(len(in.Open()), "question"))
		if in.Reason != "" {
			text += ": " + in.Reason
		}
		return text + ".", help("answer TEXT", "cancel")
	case in.Working(env.Now()):
		return fmt.Sprintf("%s took the work %s ago; its lease runs for %s more and is renewed for as long as the agent lives.",
			in.Claim.Agent, env.Since(in.Claim.At), term.Duration(in.Claim.Lease.Sub(env.Now()))), help("pause")
	case in.Claim != nil:
		return fmt.Sprintf("%s took it %s ago and went silent: its lease ran out %s ago. The work goes to the next %s that is free.",
			in.Claim.Agent, env.Since(in.Claim.At), env.Since(in.Claim.Lease), in.Owner), help("retry")
	}
	text := fmt.Sprintf("Nobody has taken the work for %s: no %s runs, or all have other work.", env.Since(in.EnteredAt), in.Owner)
	if in.Faults > 0 {
		text += fmt.Sprintf(" The work came back %s because of the machinery.", times(in.Faults))
	}
	return text, append(help("retry"), "signalbox doctor")
}

func (in Instance) held() bool {
	_, held := in.Held()
	return held
}

// waitingOn names the instances that have to end well first, and says of those
// that ended otherwise that nothing is to be waited for.
func (in Instance) waitingOn() string {
	var names []string
	for _, l := range in.Links {
		switch {
		case l.open() && l.Ended:
			names = append(names, l.Instance+", which did not end well: "+l.State)
		case l.open():
			names = append(names, l.Instance+", which has not ended yet")
		}
	}
	return strings.Join(names, "; ")
}

// after counts them.
func (in Instance) after() int {
	n := 0
	for _, l := range in.Links {
		if l.open() {
			n++
		}
	}
	return n
}

// open reports whether the instance is kept waiting by the link.
func (l Link) open() bool { return l.Kind == string(instance.After) && !(l.Ended && l.Well) }
