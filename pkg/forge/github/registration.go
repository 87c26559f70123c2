package github

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Registration is a GitHub App of one's own, as a directory keeps it. That has app.json and
// a file for each secret, all of them readable by their owner alone.
type Registration struct {
	ID     int64  `json:"id"`
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Owner  string `json:"owner"`
	Client string `json:"client_id"`
	Page   string `json:"html_url"`
	API    string `json:"api_url"` // of the forge, without a slash at its end

	dir string
	// Known only to the process that has made the App.
	key, webhookSecret, clientSecret string
}

// The files of a registration.
const (
	appFile           = "app.json"
	keyFile           = "private-key.pem"
	webhookSecretFile = "webhook-secret"
	clientSecretFile  = "client-secret"
)

// DefaultDir returns the directory that an App is kept in if no other is given, "" if the
// person has no directory for configuration.
func DefaultDir() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "signalbox", "github")
}

// LoadRegistration returns the App that is kept in the directory. The error is
// fs.ErrNotExist if there is none.
func LoadRegistration(dir string) (Registration, error) {
	r := Registration{dir: dir}
	file := filepath.Join(dir, appFile)
	data, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil || r.ID <= 0 || r.API == "" {
		return r, fmt.Errorf("%s: %w: it is not what signalbox github setup writes", file, forge.ErrInvalid)
	}
	return r, nil
}

// Save keeps the App in the directory, in place of one that is there. The one before is
// gone even if Save fails.
func (r Registration) Save(dir string) (Registration, error) {
	r.dir = dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, err
	}
	about, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return r, err
	}
	if err := os.Remove(filepath.Join(dir, appFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	for _, f := range []struct{ name, text string }{
		{keyFile, r.key}, {clientSecretFile, r.clientSecret}, {webhookSecretFile, r.webhookSecret}, {appFile, string(about)},
	} {
		if err := writePrivate(filepath.Join(dir, f.name), strings.TrimSpace(f.text)); err != nil {
			return r, err
		}
	}
	return r, nil
}

// writePrivate writes a file that its owner alone can read, whole or not at all.
func writePrivate(path, text string) error {
	half, err := os.CreateTemp(filepath.Dir(path), "*.new") // with mode 0600
	if err != nil {
		return err
	}
	_, err = half.WriteString(text + "\n")
	if err = errors.Join(err, half.Sync(), half.Close()); err == nil {
		err = os.Rename(half.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(half.Name()))
	}
	return nil
}

// KeyFile returns the path of the private key.
func (r Registration) KeyFile() string { return filepath.Join(r.dir, keyFile) }

// WebhookSecretFile returns the path of the secret that webhooks are signed with.
func (r Registration) WebhookSecretFile() string { return filepath.Join(r.dir, webhookSecretFile) }

// Files returns the paths of all secrets.
func (r Registration) Files() []string {
	return []string{r.KeyFile(), r.WebhookSecretFile(), filepath.Join(r.dir, clientSecretFile)}
}

// InstallPage returns the page where an owner of repositories installs the App.
func (r Registration) InstallPage() string { return r.Page + "/installations/new" }

// isOf reports whether the App is one of the forge at the address.
func (r Registration) isOf(address string) bool {
	mine, mineErr := Config{BaseURL: r.API}.host()
	host, err := Config{BaseURL: address}.host()
	return mineErr == nil && err == nil && strings.EqualFold(mine, host)
}

// stored returns the App that setup has stored, if it is the one to work as. That is so
// where there is neither a token nor another App, and where its directory is given.
func (f Flags) stored() (r Registration, ok bool, err error) {
	if f.TokenFile != "" || f.given() || f.Token != "" && f.Dir == "" {
		return r, false, nil
	}
	dir := cmp.Or(f.Dir, DefaultDir())
	if dir == "" {
		return r, false, nil
	}
	r, err = LoadRegistration(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Dir == "":
		return r, false, nil
	case errors.Is(err, fs.ErrNotExist):
		return r, false, fmt.Errorf("--forge-app-dir %s: %w: there is no App; `signalbox github setup --dir %s` makes one", dir, forge.ErrInvalid, dir)
	case err != nil:
		return r, false, fmt.Errorf("--forge-app-dir: %w", err)
	case r.isOf(f.address()):
		return r, true, nil
	case f.Dir == "":
		return r, false, nil
	}
	return r, false, fmt.Errorf("--forge-app-dir %s: %w: its App is one of %s, not of %s", dir, forge.ErrInvalid, hostOf(r.API), f.host())
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Scheme + "://" + u.Host
}

// settled returns the flags with the stored App, where they come to that.
func (f Flags) settled() (Flags, error) {
	r, ok, err := f.stored()
	if ok {
		f.ID, f.KeyFile, f.Key = r.ID, r.KeyFile(), ""
	}
	return f, err
}

// WebhookSecretFile returns the file of the secret that the stored App's webhook signs
// with, "" if another App or a token is used.
func (f Flags) WebhookSecretFile() string {
	if r, ok, err := f.stored(); ok && err == nil {
		return r.WebhookSecretFile()
	}
	return ""
}
