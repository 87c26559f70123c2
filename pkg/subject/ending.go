package subject

// Endings is the durable consumer of commits that end an instance.
const Endings = "endings"

// Ended returns the filter of the commits after which an instance is in the
// given final state.
func Ended(workflow, state string) (string, error) {
	if err := checkNames(workflow, state); err != nil {
		return "", err
	}
	return eventPrefix + note + "." + workflow + "." + state + ".*", nil
}
