package rest

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// page returns the page of the rows that the query asks for, and links to the others in
// the Link header.
func page[T any](c *call, rows []T) []T {
	per := number(c.URL.Query(), "per_page", 30, 100)
	at := number(c.URL.Query(), "page", 1, 1<<31)
	last := max((len(rows)+per-1)/per, 1)
	var links []string
	link := func(rel string, page int) {
		q := c.URL.Query()
		q.Set("page", strconv.Itoa(page))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.Links().API(), c.URL.EscapedPath(), q.Encode(), rel))
	}
	if at > 1 {
		link("prev", min(at-1, last))
	}
	if at < last {
		link("next", at+1)
		link("last", last)
	}
	if at > 1 {
		link("first", 1)
	}
	if links != nil {
		c.header.Set("Link", strings.Join(links, ", "))
	}
	return rows[min((at-1)*per, len(rows)):min(at*per, len(rows))]
}

func number(q url.Values, key string, usual, most int) int {
	n, err := strconv.Atoi(q.Get(key))
	if err != nil || n < 1 {
		return usual
	}
	return min(n, most)
}

// unseen counts, by the id of a row, the lists that have left it out.
type unseen struct {
	mu    sync.Mutex
	times map[int64]int
}

// shown leaves out rows of the caller that fewer than Config.Lagging lists have left out.
func shown[T any](c *call, rows []T, made func(T) (id, by int64)) []T {
	if c.server.config.Lagging == 0 {
		return rows
	}
	u := &c.server.unseen
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.times == nil {
		u.times = map[int64]int{}
	}
	return slices.DeleteFunc(rows, func(row T) bool {
		id, by := made(row)
		if by != c.User.ID || u.times[id] >= c.server.config.Lagging {
			return false
		}
		u.times[id]++
		return true
	})
}
