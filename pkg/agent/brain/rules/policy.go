package rules

import (
	"strconv"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

// Number is a policy's number. Over the wire policies come as text.
func Number(a brain.Assignment, name string, otherwise float64) float64 {
	switch v := a.Policy[name].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	case int:
		return float64(v)
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return f
		}
	}
	return otherwise
}

// enabled is a policy's switch.
func enabled(a brain.Assignment, name string, otherwise bool) bool {
	switch v := a.Policy[name].(type) {
	case bool:
		return v
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return b
		}
	}
	return otherwise
}
