package rules

import "github.com/signalbox/signalbox/pkg/agent/brain"

// Free reports whether the brain is one of plain rules: it costs nothing.
func Free(b brain.Brain) bool {
	switch b := b.(type) {
	case brain.Named:
		return Free(b.Brain)
	case Analyst, ByDocument, Checker, CTO, Navigator, PM, Quality, Tester, Unchanged, Validator:
		return true
	}
	return false
}
