// Package rules holds brains without a model. They judge reports, test evidence, diffs and
// replies by plain rules, and word what the PM says to people. The same input always gives
// the same output.
package rules
