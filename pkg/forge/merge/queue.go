package merge

import "strings"

// MethodQueue is the method of a report where the merge queue of the base merges.
const MethodQueue = "queue"

// queue passes where the pull request can be put in the queue, or is in it. A person who
// took it out, and a queue that did because its checks failed, are heeded until the head
// moves or a person puts it back.
func (in assessment) queue() (string, Gate) {
	why, missing := in.s.unread(PartQueue, PartPushes)
	q := in.s.Queued
	switch {
	case missing, q == nil:
		return "", gate(GateMethodAllowed, Unknown, "merges into %s go through its queue: %s", in.s.BaseRef, why)
	case q.State != "":
		return MethodQueue, gate(GateMethodAllowed, Pass, "it is number %d in the merge queue of %s: %s", q.Position, in.s.BaseRef,
			strings.ToLower(q.State))
	}
	if by, out := in.s.Unqueued(); out {
		return "", gate(GateMethodAllowed, Fail, "%s took it out of the merge queue of %s: %s", by, in.s.BaseRef, q.reason())
	}
	return MethodQueue, gate(GateMethodAllowed, Pass, "by the merge queue of %s", in.s.BaseRef)
}

// Unqueued reports whether another account took this head out of the merge queue, and who.
// The queue itself does when the checks of the merge fail, or it conflicts.
func (s Snapshot) Unqueued() (by string, out bool) {
	q := s.Queued
	if q == nil || q.State != "" || q.Removed.IsZero() || s.ours(q.Remover) {
		return "", false
	}
	for _, p := range s.Pushes {
		if p.After == s.Head && !p.At.Before(q.Removed) { // GitHub counts whole seconds
			return "", false
		}
	}
	if q.byQueue() {
		return "the queue", true
	}
	return q.Remover.Login, true
}

// QueuedByUs reports whether we put it in the merge queue.
func (s Snapshot) QueuedByUs() bool {
	return s.Queued != nil && s.Queued.State != "" && s.ours(s.Queued.By)
}

// ours reports whether an account that is known by login only is ours. GraphQL leaves the
// ending of a bot's login out.
func (s Snapshot) ours(p Person) bool {
	return p.Login != "" && strings.TrimSuffix(p.Login, "[bot]") == strings.TrimSuffix(s.Self.Login, "[bot]")
}

// UnqueuedByChecks reports whether the queue itself took this head out.
func (s Snapshot) UnqueuedByChecks() (reason string, out bool) {
	_, out = s.Unqueued()
	return s.Queued.reason(), out && s.Queued.byQueue()
}

func (q *Queued) byQueue() bool { return q.Remover.Login == "" || q.Remover.Bot }

func (q *Queued) reason() string {
	if q == nil || q.Reason == "" {
		return "no reason is given"
	}
	return q.Reason
}
