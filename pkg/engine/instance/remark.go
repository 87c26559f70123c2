package instance

// Remarked is the signal and the note of a person whose words are kept and count for
// nothing. They move no state, answer nothing, and are in no prompt. The gateway gives it
// to what people say who may not be quoted.
const Remarked = "remarked"

// MayWrite reports whether a permission on a repository is one to write.
func MayWrite(permission string) bool {
	return permission == "write" || permission == "maintain" || permission == "admin"
}
