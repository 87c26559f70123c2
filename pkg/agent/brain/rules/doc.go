// Package rules holds brains without a model: they judge reports, test
// evidence, diffs and replies by plain rules, and they word what the PM says to
// people. The same input always gives the same output.
package rules
