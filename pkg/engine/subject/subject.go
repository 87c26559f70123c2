// Package subject builds and parses every NATS subject of Signalbox. Nothing
// else in the repository spells one out.
//
//	sb.evt.work.<workflow>.<state>.<instance>   a commit that gives the owner of <state> something to do
//	sb.evt.note.<workflow>.<state>.<instance>   a commit that wakes no role
//	sb.evt.work.<workflow>.@<role>.<instance>   a commit that asks <role> a question
//	sb.evt.note.<workflow>.@people.<instance>   a commit that people have to know of
//	sb.timer.armed.<kind>.<instance>            a timer that waits for its time
//	sb.timer.fired.<kind>.<instance>            a timer that is due
//	sb.api.<command>                            people and the gateway ask the orchestrator
//	sb.api.agent.<role>.<command>               an agent asks the orchestrator
//	sb.in.<account>.<rest>                      what an account published on sb.<rest>, as it reaches the orchestrator
//	sb.orchestrator.duty                        orchestrators ask for the active one
//	sb.forge.issue.open                         the gateway takes a report for the forge
//	sb.hook.<event>.<delivery>                  what a webhook of the forge delivered
//	sb.forge.delivery.replay                    the gateway handles a delivery again
//	sb.live.<role>.<token>.<instance>           an agent answers with the output of its work so far
//	sb.forge.limits                             the orchestrator says that a limit of the forge is reached
//	sb.forge.configuration                      the gateway says what is in force for a repository
package subject

import (
	"errors"
	"fmt"
	"strings"
)

// ErrInvalid is the identity of every error of this package: a name, an
// instance id or a subject that does not follow the rules above.
var ErrInvalid = errors.New("invalid subject")

// MaxName is the longest workflow, state, role or command name, in bytes.
const MaxName = 64

// CheckName returns why s cannot be a workflow, state, role or command: a name is
// 1 to MaxName lower-case letters, digits, '_' and '-'. So no name is an address.
func CheckName(s string) error { return checkName(s, MaxName) }

func checkName(s string, longest int) error {
	if s == "" || len(s) > longest {
		return fmt.Errorf("%w: name %.70q has %d bytes, want 1 to %d", ErrInvalid, s, len(s), longest)
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return fmt.Errorf("%w: name %q, want only a-z, 0-9, '_' and '-'", ErrInvalid, s)
		}
	}
	return nil
}

func checkNames(names ...string) error {
	for _, n := range names {
		if err := CheckName(n); err != nil {
			return err
		}
	}
	return nil
}

// cut splits s, which must start with prefix, into exactly n tokens.
func cut(s, prefix string, n int) ([]string, error) {
	rest, ok := strings.CutPrefix(s, prefix)
	tokens := strings.Split(rest, ".")
	if !ok || len(tokens) != n {
		return nil, fmt.Errorf("%w: %.300q, want %s and %d tokens", ErrInvalid, s, prefix, n)
	}
	return tokens, nil
}
