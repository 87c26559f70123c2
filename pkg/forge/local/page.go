package local

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// page cuts the page out of the rows that the query asks for, and links to
// the others in the Link header.
func page[T any](c *call, rows []T) []T {
	per := number(c.URL.Query(), "per_page", 30, 100)
	at := number(c.URL.Query(), "page", 1, 1<<31)
	last := max((len(rows)+per-1)/per, 1)
	var links []string
	link := func(rel string, page int) {
		q := c.URL.Query()
		q.Set("page", strconv.Itoa(page))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.api(), c.URL.EscapedPath(), q.Encode(), rel))
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
