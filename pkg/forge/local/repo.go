package local

import (
	"net/http"
	"slices"
)

// repositoryURLs is the suffix each URL field of a repository has.
var repositoryURLs = map[string]string{
	"archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}", "blobs_url": "/git/blobs{/sha}",
	"branches_url": "/branches{/branch}", "collaborators_url": "/collaborators{/collaborator}",
	"comments_url": "/comments{/number}", "commits_url": "/commits{/sha}", "compare_url": "/compare/{base}...{head}",
	"contents_url": "/contents/{+path}", "contributors_url": "/contributors", "deployments_url": "/deployments",
	"downloads_url": "/downloads", "events_url": "/events", "forks_url": "/forks", "git_commits_url": "/git/commits{/sha}",
	"git_refs_url": "/git/refs{/sha}", "git_tags_url": "/git/tags{/sha}", "hooks_url": "/hooks",
	"issue_comment_url": "/issues/comments{/number}", "issue_events_url": "/issues/events{/number}",
	"issues_url": "/issues{/number}", "keys_url": "/keys{/key_id}", "labels_url": "/labels{/name}",
	"languages_url": "/languages", "merges_url": "/merges", "milestones_url": "/milestones{/number}",
	"notifications_url": "/notifications{?since,all,participating}", "pulls_url": "/pulls{/number}",
	"releases_url": "/releases{/id}", "stargazers_url": "/stargazers", "statuses_url": "/statuses/{sha}",
	"subscribers_url": "/subscribers", "subscription_url": "/subscription", "tags_url": "/tags", "teams_url": "/teams",
	"trees_url": "/git/trees{/sha}", "url": "",
}

func (v view) repo(r repo) object {
	web, clone := v.repoURL(r), v.repoURL(r)+".git"
	open := len(r.issues.where(func(i issue) bool { return i.State == "open" }))
	owner, _ := v.state.account(r.Owner)
	o := object{
		"id": r.ID, "node_id": nodeID("Repository", r.ID), "name": r.Name, "full_name": r.fullName(),
		"owner": v.account(owner), "private": !v.f.config.Public, "visibility": v.visibility(),
		"html_url": web, "description": nil, "fork": false, "homepage": nil, "language": nil, "license": nil,
		"clone_url": clone, "git_url": clone, "ssh_url": clone, "svn_url": web, "mirror_url": nil,
		"default_branch": r.Branch, "size": 0, "forks": 0, "forks_count": 0, "watchers": 0, "watchers_count": 0,
		"stargazers_count": 0, "subscribers_count": 0, "network_count": 0, "open_issues": open, "open_issues_count": open,
		"has_issues": true, "has_projects": false, "has_wiki": false, "has_pages": false, "has_downloads": false,
		"has_discussions": false, "archived": false, "disabled": false,
		"created_at": r.Created, "updated_at": r.Pushed, "pushed_at": r.Pushed,
		"allow_merge_commit": r.takes("merge"), "allow_squash_merge": r.takes("squash"), "allow_rebase_merge": r.takes("rebase"),
	}
	for field, suffix := range repositoryURLs {
		o[field] = v.repoAPI(r) + suffix
	}
	return o
}

// takes tells whether the repository allows the way to merge.
func (r repository) takes(method string) bool { return !slices.Contains(r.Refused, method) }

// editRepo changes which ways to merge are allowed; the rest is as it was made.
func editRepo(c *call) (int, any, error) {
	var in struct {
		Merge  *bool `json:"allow_merge_commit"`
		Squash *bool `json:"allow_squash_merge"`
		Rebase *bool `json:"allow_rebase_merge"`
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	err := c.change(func(t *tx, r repo) error {
		row := r.repository
		row.Refused = nil
		for method, allowed := range map[string]*bool{"merge": in.Merge, "squash": in.Squash, "rebase": in.Rebase} {
			if !deref(allowed, r.takes(method)) {
				row.Refused = append(row.Refused, method)
			}
		}
		if len(row.Refused) == 3 {
			return refused("Repository", "Sorry, you need to allow at least one merge strategy.")
		}
		slices.Sort(row.Refused)
		t.put(entry{Repo: c.name(), Repository: &row})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return getRepo(c)
}

func (v view) visibility() string {
	if v.f.config.Public {
		return "public"
	}
	return "private"
}

func getRepo(c *call) (int, any, error) {
	o := c.view().repo(c.repo)
	o["permissions"] = c.level.all()
	return http.StatusOK, o, nil
}

// all is what each step of the ladder says about the permission.
func (p permission) all() object {
	return object{"pull": p >= read, "triage": p >= triage, "push": p >= write, "maintain": p >= maintain, "admin": p >= admin}
}

func getPermission(c *call) (int, any, error) {
	a, ok := c.state.account(c.PathValue("user"))
	if !ok || a.Type == "Organization" {
		return 0, nil, errNotFound
	}
	level := c.f.permission(a.Login, c.name())
	user := c.view().account(a)
	user["permissions"], user["role_name"] = level.all(), level.String()
	return http.StatusOK, object{"permission": level.coarse(), "role_name": level.String(), "user": user}, nil
}
