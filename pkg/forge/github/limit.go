package github

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
)

// A limit that comes without a time lasts a minute at least, and twice as long each time
// it comes again, as GitHub asks for. No limit is believed to last longer than a day.
const (
	untold     = time.Minute
	maxUntold  = 16 * time.Minute
	maxLimited = 24 * time.Hour
)

// limitOf returns the limit that an answer says is reached, nil if it says none. again is
// how many limits without a time came right before this one. primary means that it is the
// one on requests an hour; it is of one resource, and every other limit is of all.
func limitOf(status int, header http.Header, body []byte, again int, now time.Time) (limit *forge.RateLimit, primary bool) {
	if status != http.StatusForbidden && status != http.StatusTooManyRequests {
		return nil, false
	}
	var said struct {
		Message       string
		Documentation string `json:"documentation_url"`
	}
	_ = json.Unmarshal(body, &said) // a proxy's answer is no JSON
	after, told := retryAfter(header, now)
	primary = header.Get("X-RateLimit-Remaining") == "0"
	if !told && !primary && status != http.StatusTooManyRequests && !namesLimit(said.Message+" "+said.Documentation) {
		return nil, false
	}
	reset, _ := resetOf(header, now)
	switch {
	case primary && reset.After(after):
		after = reset
	case !told:
		after = now.Add(min(untold<<min(again, 8), maxUntold))
	}
	if last := now.Add(maxLimited); after.After(last) {
		after = last
	}
	if soonest := now.Add(time.Second); after.Before(soonest) {
		after = soonest // a forge whose clock is off refuses again at once
	}
	words := said.Message
	if words == "" {
		words = http.StatusText(status)
	}
	return &forge.RateLimit{Until: after, Message: strconv.Itoa(status) + " " + words}, primary
}

// namesLimit reports whether the text of a refusal is about a limit. That of a secondary
// one has neither a header nor always the link to its documentation.
func namesLimit(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "rate limit") || strings.Contains(text, "rate-limit") || strings.Contains(text, "abuse detection")
}

// retryAfter returns when an answer says to try again.
func retryAfter(header http.Header, now time.Time) (at time.Time, told bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return now.Add(min(time.Duration(seconds)*time.Second, maxLimited)), true
	}
	if date, err := http.ParseTime(text); err == nil {
		return now.Add(date.Sub(clockOf(header, now))), true
	}
	return time.Time{}, false
}

// resetOf returns when the hour of a resource ends, by the clock of this machine.
func resetOf(header http.Header, now time.Time) (at time.Time, told bool) {
	seconds, err := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}, false
	}
	return now.Add(time.Unix(seconds, 0).Sub(clockOf(header, now))), true
}

// clockOf returns the time that the forge has, to the second, that of this machine if it
// does not say.
func clockOf(header http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		return date
	}
	return now.Truncate(time.Second)
}

// resourceOf returns which of the forge's limits a request is counted in.
func resourceOf(r *http.Request) string {
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		return "graphql"
	}
	return "core"
}
