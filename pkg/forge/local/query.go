package local

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// queries is the root of what can be asked.
func (c *call) queries() object {
	return object{
		"viewer": c.gqlActor(c.user.ID),
		"repository": field(func(in map[string]any) (any, error) {
			name := fmt.Sprintf("%s/%s", in["owner"], in["name"])
			r, ok := c.state.repo(name)
			if !ok || c.f.permission(c.user.Login, name) < read {
				return nil, &refusalGQL{"NOT_FOUND", fmt.Sprintf("Could not resolve to a Repository with the name '%s'.", name)}
			}
			c.repo = r
			return c.gqlRepo(), nil
		}),
	}
}

func (c *call) gqlActor(id int64) object {
	a, ok := c.state.accounts.get(id)
	if !ok {
		return nil
	}
	return object{
		"__typename": a.Type, "id": nodeID("User", a.ID), "databaseId": a.ID,
		"login": strings.TrimSuffix(a.Login, "[bot]"), "url": c.view().url + "/" + a.Login,
	}
}

func (c *call) gqlRepo() object {
	r := c.repo
	return object{
		"__typename": "Repository", "id": nodeID("Repository", r.ID), "nameWithOwner": r.fullName(),
		"mergeCommitAllowed": r.takes("merge"), "squashMergeAllowed": r.takes("squash"), "rebaseMergeAllowed": r.takes("rebase"),
		"issue": field(func(in map[string]any) (any, error) {
			i, ok := r.issues.get(whole(in["number"]))
			if !ok || i.Pull != nil {
				return nil, &refusalGQL{"NOT_FOUND", fmt.Sprintf("Could not resolve to an Issue with the number of %v.", in["number"])}
			}
			return c.gqlIssue(i), nil
		}),
		"pullRequest": field(func(in map[string]any) (any, error) {
			if err := c.f.follow(c.Context(), r.fullName(), 0); err != nil {
				return nil, err
			}
			c.refresh()
			i, ok := c.repo.issues.get(whole(in["number"]))
			if !ok || i.Pull == nil {
				return nil, &refusalGQL{"NOT_FOUND", fmt.Sprintf("Could not resolve to a PullRequest with the number of %v.", in["number"])}
			}
			return c.gqlPull(i), nil
		}),
	}
}

func (c *call) gqlPull(i issue) object {
	decision := any(nil)
	if d := c.f.decision(c.repo, i); d != "" {
		decision = d
	}
	state := strings.ToUpper(i.State)
	if i.Pull.Merged != nil {
		state = "MERGED"
	}
	return object{
		"__typename": "PullRequest", "id": nodeID("PullRequest", i.ID), "number": i.Number, "title": i.Title, "state": state,
		"isDraft": i.Pull.Draft, "url": c.view().issueURL(c.repo, i), "author": c.gqlActor(i.Author), "reviewDecision": decision,
		"repository": field(func(map[string]any) (any, error) { return c.gqlRepo(), nil }),
		"reviewThreads": field(func(in map[string]any) (any, error) {
			threads := slices.DeleteFunc(c.repo.linesOf(i.Number), func(l lineComment) bool { return l.ReplyTo != 0 })
			return connection(in, threads, func(l lineComment) (object, error) { return c.gqlThread(i, l) })
		}),
	}
}

func (c *call) gqlIssue(i issue) object {
	return object{
		"__typename": "Issue", "id": nodeID("Issue", i.ID), "number": i.Number, "title": i.Title,
		"timelineItems": field(func(in map[string]any) (any, error) {
			return connection(in, c.repo.mentioning(i.Number), func(p issue) (object, error) {
				return object{
					"__typename": "CrossReferencedEvent", "id": nodeID("CrossReferencedEvent", p.ID), "source": c.gqlPull(p),
					"willCloseTarget": c.repo.closes(p, i.Number) && p.State == "open",
				}, nil
			})
		}),
		"closedByPullRequestsReferences": field(func(in map[string]any) (any, error) {
			rows := c.repo.issues.where(func(p issue) bool {
				return p.Pull != nil && c.repo.closes(p, i.Number) && (in["includeClosedPrs"] == true || p.State == "open")
			})
			return connection(in, rows, func(p issue) (object, error) { return c.gqlPull(p), nil })
		}),
	}
}

var mentionPattern = regexp.MustCompile(`(?:^|[^\w&/])#(\d+)\b`)

// mentioning is the pull requests that speak of the issue.
func (r repo) mentioning(number int64) []issue {
	speaks := func(text string) bool {
		return slices.ContainsFunc(mentionPattern.FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] == strconv.FormatInt(number, 10) })
	}
	return r.issues.where(func(p issue) bool {
		return p.Pull != nil && (speaks(p.Body) || slices.ContainsFunc(r.commentsOn(p.Number), func(m comment) bool { return speaks(m.Body) }))
	})
}

// closes tells whether merging the pull request closes the issue.
func (r repo) closes(p issue, number int64) bool {
	return p.Pull.Base == r.Branch && slices.ContainsFunc(closingPattern.FindAllStringSubmatch(p.Body, -1), func(m []string) bool {
		return m[1] == strconv.FormatInt(number, 10)
	})
}
