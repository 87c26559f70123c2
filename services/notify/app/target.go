package app

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/pkg/base/yamltext"
	"github.com/signalbox/signalbox/pkg/engine/yamlfile"
)

// target is a receiver of notifications. The operator names it; its address is a secret.
type target struct {
	name   string
	events []string
	repos  []string // patterns; nil: all repositories
	sender
}

// wants reports whether the target gets a fact about a repository. chosen are the events by target that the repository has chosen: they
// take the place of those of the targets that it names. The repositories of a target are the operator's.
func (t target) wants(f fact, repo string, chosen map[string]string) bool {
	events := t.events
	if own, ok := chosen[t.name]; ok && t.name != desktopName {
		events = strings.Split(own, ",")
	}
	return f.wants(events) && (t.repos == nil || slices.ContainsFunc(t.repos, func(pattern string) bool {
		ok, err := path.Match(pattern, repo)
		return ok && err == nil
	}))
}

// entry is what the file has about a target. It may have the name of a file in place of a secret.
type entry struct {
	Webhook      string   `yaml:"webhook"`
	WebhookFile  string   `yaml:"webhook_file"`
	Secret       string   `yaml:"secret"`
	SecretFile   string   `yaml:"secret_file"`
	Chat         string   `yaml:"chat"`
	ChatFile     string   `yaml:"chat_file"`
	Events       []string `yaml:"events"`
	Repositories []string `yaml:"repositories"`
}

// readTargets reads a file of targets. Its errors have no secrets of the file.
func readTargets(file string, now func() time.Time) (all []target, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var entries map[string]entry
	if err := yamltext.Unmarshal(text, &entries, yaml.Strict()); err != nil {
		r := yamlfile.Reader{File: file} // its problem has no text of the file but a key
		r.Syntax(err)
		return nil, r.Err()
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%s: want a target, as in the line `team:` and below it `  chat_file: team.url`", file)
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		t, err := entries[name].target(name, filepath.Dir(file), now)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s: %w", file, name, err))
		}
		all = append(all, t)
	}
	return all, errors.Join(wrong...)
}

// target makes the target of an entry. Names of files are relative to dir.
func (e entry) target(name, dir string, now func() time.Time) (t target, err error) {
	for _, one := range []struct {
		key, file string
		to        *string
	}{{"webhook", e.WebhookFile, &e.Webhook}, {"secret", e.SecretFile, &e.Secret}, {"chat", e.ChatFile, &e.Chat}} {
		if one.file == "" {
			continue
		}
		if *one.to != "" {
			return t, fmt.Errorf("want either %s or %s_file", one.key, one.key)
		}
		if !filepath.IsAbs(one.file) {
			one.file = filepath.Join(dir, one.file)
		}
		text, err := os.ReadFile(one.file)
		if err != nil {
			return t, err
		}
		*one.to = strings.TrimSpace(string(text))
	}
	all, usual := Events()
	for _, event := range e.Events {
		if !slices.Contains(all, event) {
			return t, fmt.Errorf("unknown event %s; want some of %s", yamlfile.Quoted(event), strings.Join(all, ", "))
		}
	}
	for _, pattern := range e.Repositories {
		if _, err := path.Match(pattern, ""); err != nil {
			return t, fmt.Errorf("repositories: want patterns such as acme/*: %s", yamlfile.Quoted(pattern))
		}
	}
	t = target{name: name, events: e.Events, repos: e.Repositories}
	if t.events == nil {
		t.events = usual
	}
	switch {
	case (e.Webhook == "") == (e.Chat == ""):
		return t, errors.New("want either a webhook or a chat: webhook, webhook_file, chat or chat_file")
	case e.Chat != "" && e.Secret != "":
		return t, errors.New("a chat has no secret: remove it")
	case e.Chat != "":
		t.sender, err = newChat(e.Chat)
	default:
		t.sender, err = newWebhook(e.Webhook, e.Secret, now)
	}
	return t, err
}

// address returns an address of a webhook. The error does not have it.
func address(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, errors.New("webhook: want an address that begins with https:// or http://")
	}
	return u, nil
}
