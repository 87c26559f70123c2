package rules

import "github.com/signalbox/signalbox/pkg/instance"

// ToAll begins an answer that was given to all open questions at once: whoever
// reads it finds out what of it answers the question at hand.
const ToAll = "(in answer to all open questions) "

// isComment reports whether the note is what somebody said on the forge.
func isComment(n instance.Note) bool { return n.Kind == "commented" || n.Kind == "comment" }
