package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Newest returns the newest commit of the default branch.
func (c *Client) Newest(ctx context.Context, repo string) (string, error) {
	owner, name, err := split(repo)
	if err != nil {
		return "", err
	}
	what := "read the newest commit of " + repo
	rows, resp, err := c.api.Repositories.ListCommits(ctx, owner, name, &github.CommitsListOptions{ListOptions: github.ListOptions{PerPage: 1}})
	if resp != nil && resp.StatusCode == http.StatusConflict || err == nil && len(present(rows)) == 0 {
		return "", fmt.Errorf("github: %s: %w: the repository is empty", what, forge.ErrNotFound)
	}
	if err != nil {
		return "", explain(ctx, what, err)
	}
	return present(rows)[0].GetSHA(), nil
}

// Files lists the names of the files in a directory at a commit.
func (c *Client) Files(ctx context.Context, repo, commit, dir string) ([]string, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	_, rows, _, err := c.api.Repositories.GetContents(ctx, owner, name, dir, &github.RepositoryContentGetOptions{Ref: commit})
	if err != nil {
		if err = explain(ctx, fmt.Sprintf("list %s of %s", dir, repo), err); errors.Is(err, forge.ErrNotFound) {
			return nil, nil
		}
		return nil, err
	}
	var names []string
	for _, row := range present(rows) {
		if row.GetType() == "file" {
			names = append(names, row.GetName())
		}
	}
	return names, nil
}

// File reads a file at a commit. One that is a link, or too large for the API, is
// ErrInvalid.
func (c *Client) File(ctx context.Context, repo, commit, path string) ([]byte, error) {
	owner, name, err := split(repo)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("read %s of %s", path, repo)
	row, _, _, err := c.api.Repositories.GetContents(ctx, owner, name, path, &github.RepositoryContentGetOptions{Ref: commit})
	if err != nil {
		return nil, explain(ctx, what, err)
	}
	if row.GetType() != "file" {
		return nil, fmt.Errorf("github: %s: %w: it is no file", what, forge.ErrInvalid)
	}
	text, err := row.GetContent()
	if err != nil {
		return nil, fmt.Errorf("github: %s: %w: %w", what, forge.ErrInvalid, err)
	}
	return []byte(text), nil
}
