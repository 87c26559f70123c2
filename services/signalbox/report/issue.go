package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// viewed is the JSON that gh prints for --json number,title,body,labels,url. It may
// also have the author.
type viewed struct {
	Number *int    `json:"number"`
	Title  *string `json:"title"`
	Body   *string `json:"body"`
	Labels []struct {
		Name string `json:"name"`
	} `json:"labels"`
	URL    *string `json:"url"`
	Author struct {
		Login string `json:"login"`
	} `json:"author"`
}

// command is the command line whose output ParseIssue reads.
const command = "gh issue view N --json number,title,body,labels,url"

// ParseIssue parses an issue as `gh issue view N --json number,title,body,labels,url`
// prints it. The repository is taken from the URL.
func ParseIssue(src []byte) (issue instance.Issue, err error) {
	if len(src) > MaxSize {
		return issue, fmt.Errorf("it has %d bytes, want at most %d", len(src), MaxSize)
	}
	src = bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))
	if !utf8.Valid(src) {
		return issue, errors.New("it is not UTF-8 text")
	}
	var v viewed
	dec := json.NewDecoder(bytes.NewReader(src))
	if err := dec.Decode(&v); err != nil {
		return issue, unread(src, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return issue, fmt.Errorf("there is more than one JSON value, want one issue, as `%s` prints it", command)
	}
	for _, key := range []struct {
		name    string
		missing bool
	}{
		{"number", v.Number == nil || *v.Number < 1}, {"title", v.Title == nil || strings.TrimSpace(*v.Title) == ""},
		{"body", v.Body == nil}, {"url", v.URL == nil || *v.URL == ""},
	} {
		if key.missing {
			return issue, fmt.Errorf("%s is missing, want what `%s` prints", key.name, command)
		}
	}
	issue = instance.Issue{Number: *v.Number, Title: strings.TrimSpace(*v.Title), Body: *v.Body, URL: *v.URL, Author: v.Author.Login}
	if n := utf8.RuneCountInString(issue.Title); n > MaxTitle {
		return issue, fmt.Errorf("the title has %d characters, want at most %d", n, MaxTitle)
	}
	for i, label := range v.Labels {
		if label.Name == "" {
			return issue, fmt.Errorf("labels[%d] has no name", i)
		}
		issue.Labels = append(issue.Labels, label.Name)
	}
	issue.Repo, err = repository(issue)
	return issue, err
}

// unread returns an error that says why the text is no issue.
func unread(src []byte, err error) error {
	wrong, broken := (*json.UnmarshalTypeError)(nil), (*json.SyntaxError)(nil)
	switch {
	case len(src) == 0:
		return fmt.Errorf("it is empty, want what `%s` prints", command)
	case src[0] == '[':
		return fmt.Errorf("it is a list, want one issue, as `%s` prints it", command)
	case errors.As(err, &wrong) && strings.HasPrefix(wrong.Field, "labels"):
		return errors.New(`labels are a list of objects, each with a name: [{"name": "bug"}]`)
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%s is a %s, want a %s", wrong.Field, wrong.Value, wrong.Type)
	case errors.As(err, &broken):
		line := 1 + bytes.Count(src[:min(int(broken.Offset), len(src))], []byte("\n"))
		return fmt.Errorf("line %d: it is not JSON: %w", line, err)
	}
	return fmt.Errorf("it is not the JSON of an issue: %w", err)
}

// repository returns the OWNER/NAME in the issue's URL.
func repository(issue instance.Issue) (string, error) {
	u, err := url.Parse(issue.URL)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("url %q is not an address, want https://HOST/OWNER/NAME/issues/%d", issue.URL, issue.Number)
	}
	repo, _, number, err := Address(issue.URL)
	if err != nil {
		return "", fmt.Errorf("url %w", err)
	}
	if number != issue.Number {
		return "", fmt.Errorf("url %s is of issue %d, and number is %d", issue.URL, number, issue.Number)
	}
	return repo, nil
}

// Address returns the repository, the host and the number in the URL of an issue.
func Address(at string) (repo, host string, number int, err error) {
	u, err := url.Parse(at)
	if err != nil {
		return "", "", 0, err
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) == 4 && parts[2] == "pull" {
		return "", "", 0, fmt.Errorf("%s is a pull request's, want an issue", at)
	}
	if len(parts) == 4 && parts[2] == "issues" && parts[0] != "" && parts[1] != "" {
		number, err = strconv.Atoi(parts[3])
	}
	if err != nil || number < 1 {
		return "", "", 0, fmt.Errorf("%s is not an issue's, want https://HOST/OWNER/NAME/issues/NUMBER", at)
	}
	return parts[0] + "/" + parts[1], u.Host, number, nil
}
