package service

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// day is what ParseDuration takes a d for, as the pages print it.
const day = 24 * time.Hour

// ParseDuration is time.ParseDuration that also takes days, before all else: 7d, 1d12h,
// -1d. A day is 24 hours.
func ParseDuration(text string) (time.Duration, error) {
	unsigned := strings.TrimLeft(text, "+-")
	days, rest, found := strings.Cut(unsigned, "d")
	n, err := strconv.ParseUint(days, 10, 16)
	if !found || err != nil || len(text)-len(unsigned) > 1 {
		return time.ParseDuration(text)
	}
	d := time.Duration(n) * day
	if rest != "" {
		more, err := time.ParseDuration(rest)
		if err != nil || more < 0 || strings.ContainsAny(rest[:1], "+-") {
			return 0, fmt.Errorf("%q is no duration: want one such as 30s, 2h, 7d or 1d12h", text)
		}
		d += more
	}
	if strings.HasPrefix(text, "-") {
		d = -d
	}
	return d, nil
}

// withDays has kong read durations with days.
func withDays() kong.Option {
	return kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		t, err := ctx.Scan.PopValue("duration")
		if err != nil {
			return err
		}
		var d time.Duration
		switch v := t.Value.(type) {
		case string:
			if d, err = ParseDuration(v); err != nil {
				return fmt.Errorf("expected duration but got %q: %w", v, err)
			}
		case int:
			d = time.Duration(v)
		case int64:
			d = time.Duration(v)
		case float64:
			d = time.Duration(v)
		default:
			return fmt.Errorf("expected duration but got %q", v)
		}
		target.SetInt(int64(d))
		return nil
	}))
}
