package local

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// gqlThread is the conversation that the comment began.
func (c *call) gqlThread(i issue, first lineComment) (object, error) {
	now, err := c.f.moveLine(c.Context(), c.name(), first.Commit, i.Pull.HeadSHA, first.Path, first.Line)
	if err != nil {
		return nil, err
	}
	line := any(nil)
	if now > 0 {
		line = now
	}
	return object{
		"__typename": "PullRequestReviewThread", "id": nodeID("PullRequestReviewThread", first.ID),
		"isResolved": first.Resolved, "isOutdated": now == 0, "path": first.Path, "line": line,
		"comments": field(func(in map[string]any) (any, error) {
			rows := c.repo.lines.where(func(l lineComment) bool { return !l.Deleted && (l.ID == first.ID || l.ReplyTo == first.ID) })
			return connection(in, rows, func(l lineComment) (object, error) {
				return object{
					"__typename": "PullRequestReviewComment", "id": nodeID("PullRequestReviewComment", l.ID), "body": l.Body,
					"author": c.gqlActor(l.Author), "fullDatabaseId": strconv.FormatInt(l.ID, 10),
				}, nil
			})
		}),
	}, nil
}

// connection is the page of the rows that the arguments ask for.
func connection[T any](in map[string]any, rows []T, show func(T) (object, error)) (any, error) {
	first := int(whole(in["first"]))
	if first < 1 || first > 100 {
		return nil, &refusalGQL{"MISSING_PAGINATION_BOUNDARIES", "You must provide a `first` value between 1 and 100 to properly paginate the connection."}
	}
	from := 0
	if after, ok := in["after"].(string); ok {
		cursor, _ := base64.StdEncoding.DecodeString(after)
		n, err := strconv.Atoi(strings.TrimPrefix(string(cursor), "cursor:"))
		if err != nil || n < 0 {
			return nil, &refusalGQL{"INVALID_CURSOR_ARGUMENTS", fmt.Sprintf("`%s` does not appear to be a valid cursor.", after)}
		}
		from = min(n, len(rows))
	}
	to := min(from+first, len(rows))
	nodes := []object{}
	for _, row := range rows[from:to] {
		o, err := show(row)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, o)
	}
	end := any(nil)
	if to > from {
		end = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "cursor:%d", to))
	}
	return object{"nodes": nodes, "totalCount": len(rows), "pageInfo": object{"hasNextPage": to < len(rows), "endCursor": end}}, nil
}

// whole is a number from JSON or from the query's text.
func whole(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(n)
	case json.Number:
		i, _ := n.Int64()
		return i
	}
	return 0
}
