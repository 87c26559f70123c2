package subject

const (
	// Endings is the durable consumer of commits that people get a comment on: those
	// that end an instance, Told, and those of states with `tell`.
	Endings = "endings"
	// Told is the filter of the commits that are addressed to people.
	Told = eventPrefix + note + ".*." + People + ".*"
)

// Ended returns the filter of the commits that wake no role and after which an instance is
// in the given state. That is a final one, or one that waits.
func Ended(workflow, state string) (string, error) {
	if err := checkNames(workflow, state); err != nil {
		return "", err
	}
	return eventPrefix + note + "." + workflow + "." + state + ".*", nil
}
