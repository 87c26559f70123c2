package rest

import (
	"net/http"
	"slices"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
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

func (v view) repo(r store.Repo) object {
	web, clone := v.RepoURL(r), v.git.RepoURL(r)+".git"
	open := len(r.Issues.Where(func(i store.Issue) bool { return i.State == "open" }))
	owner, _ := v.state.Account(r.Owner)
	o := object{
		"id": r.ID, "node_id": nodeID("Repository", r.ID), "name": r.Name, "full_name": r.FullName(),
		"owner": v.account(owner), "private": !v.access.Public, "visibility": v.visibility(),
		"html_url": web, "description": nil, "fork": false, "homepage": nil, "language": nil, "license": nil,
		"clone_url": clone, "git_url": clone, "ssh_url": clone, "svn_url": web, "mirror_url": nil,
		"default_branch": r.Branch, "size": 0, "forks": 0, "forks_count": 0, "watchers": 0, "watchers_count": 0,
		"stargazers_count": 0, "subscribers_count": 0, "network_count": 0, "open_issues": open, "open_issues_count": open,
		"has_issues": true, "has_projects": false, "has_wiki": false, "has_pages": false, "has_downloads": false,
		"has_discussions": false, "archived": r.Archived, "disabled": false,
		"created_at": r.Created, "updated_at": r.Pushed, "pushed_at": r.Pushed,
		"allow_merge_commit": r.Takes("merge"), "allow_squash_merge": r.Takes("squash"), "allow_rebase_merge": r.Takes("rebase"),
	}
	for field, suffix := range repositoryURLs {
		o[field] = v.RepoAPI(r) + suffix
	}
	return o
}

// editRepo changes the name, whether the repository is archived, and which merge methods are
// allowed. It refuses a change of another field that GitHub knows.
func editRepo(c *call) (int, any, error) {
	var in struct {
		Name     *string
		Archived *bool
		Merge    *bool   `json:"allow_merge_commit"`
		Squash   *bool   `json:"allow_squash_merge"`
		Rebase   *bool   `json:"allow_rebase_merge"`
		Branch   *string `json:"default_branch"`
	}
	if err := c.decodeDone(&in, undone{"Repository", undoneOfRepo, c.view().repo(c.Repo)}); err != nil {
		return 0, nil, err
	}
	if _, _, err := store.SplitName(c.Repo.Owner + "/" + deref(in.Name, c.Repo.Name)); err != nil {
		return 0, nil, invalid("Repository", "name", "invalid")
	}
	if deref(in.Branch, c.Repo.Branch) != c.Repo.Branch {
		return 0, nil, refused("Repository", "The local forge does not change the default branch.")
	}
	err := c.Change(func(t *store.Tx, r store.Repo) error {
		row := r.Repository
		row.Refused, row.Archived = nil, deref(in.Archived, r.Archived)
		for method, allowed := range map[string]*bool{"merge": in.Merge, "squash": in.Squash, "rebase": in.Rebase} {
			if !deref(allowed, r.Takes(method)) {
				row.Refused = append(row.Refused, method)
			}
		}
		if len(row.Refused) == 3 {
			return refused("Repository", "Sorry, you need to allow at least one merge strategy.")
		}
		slices.Sort(row.Refused)
		t.Put(store.Entry{Repo: c.Name(), Repository: &row})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	if name := deref(in.Name, c.Repo.Name); name != c.Repo.Name {
		if err := c.Forge.Rename(c.Name(), c.Repo.Owner+"/"+name); err != nil {
			return 0, nil, err
		}
		c.Refresh()
	}
	return getRepo(c)
}

func (v view) visibility() string {
	if v.access.Public {
		return "public"
	}
	return "private"
}

func getRepo(c *call) (int, any, error) {
	o := c.view().repo(c.Repo)
	o["permissions"] = permissions(c.Level)
	return http.StatusOK, o, nil
}

// permissions returns GitHub's five flags of the permission.
func permissions(p store.Permission) object {
	return object{
		"pull": p >= store.Read, "triage": p >= store.Triage, "push": p >= store.Write,
		"maintain": p >= store.Maintain, "admin": p >= store.Admin,
	}
}

func getPermission(c *call) (int, any, error) {
	a, ok := c.State.Account(c.PathValue("user"))
	if !ok || a.Type == "Organization" {
		return 0, nil, host.ErrNotFound
	}
	level := c.Forge.Access.Permission(a.Login, c.Name())
	user := c.view().account(a)
	user["permissions"], user["role_name"] = permissions(level), level.String()
	return http.StatusOK, object{"permission": level.Coarse(), "role_name": level.String(), "user": user}, nil
}

// renameBranch refuses what the local forge does not do: an answer of 404 would say that the
// branch does not exist.
func renameBranch(*call) (int, any, error) {
	return 0, nil, refused("Branch", "The local forge does not rename branches.")
}
