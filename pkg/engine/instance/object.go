package instance

import "slices"

// Refers reports whether the instance names an object: a bundle with its code, or an
// artifact of a step.
func (in Instance) Refers(object string) bool {
	return object != "" && (slices.ContainsFunc(in.Bundles, func(b Bundle) bool { return b.Object == object }) ||
		slices.ContainsFunc(in.Artifacts, func(a Artifact) bool { return a.Object == object }))
}
