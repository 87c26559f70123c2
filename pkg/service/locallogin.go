package service

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// LocalUser is the user that an embedded server accepts from other processes of the
// same person on this machine.
const LocalUser = "signalbox"

// LocalLogin is the password of a server on a loopback port. It is in a file that only
// this person can read; Connect finds it by the port. Each start of a server has a
// new password. So one that was sent to another program on the port opens nothing
// later.
type LocalLogin struct {
	Password string
	path     string
}

// NewLocalLogin returns a login with a random password. Publish makes it available.
func NewLocalLogin() *LocalLogin { return &LocalLogin{Password: rand.Text() + rand.Text()} }

// Publish writes the password to a file where Connect finds it for the server at url,
// and returns the path.
func (l *LocalLogin) Publish(serverURL string) (path string, err error) {
	port, ok := loopbackPort(serverURL)
	if !ok {
		return "", fmt.Errorf("%s is no loopback address", redact(serverURL))
	}
	if path, err = localPasswordFile(port); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	half, err := os.CreateTemp(filepath.Dir(path), "*.new") // with mode 0600
	if err != nil {
		return "", err
	}
	_, err = half.WriteString(l.Password + "\n")
	if err = errors.Join(err, half.Close()); err == nil {
		err = os.Rename(half.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(half.Name()))
	}
	l.path = path
	return path, nil
}

// Withdraw removes the file of Publish, unless another server has written it since.
func (l *LocalLogin) Withdraw() error {
	if l.path == "" {
		return nil
	}
	data, err := os.ReadFile(l.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && strings.TrimSpace(string(data)) != l.Password {
		return nil
	}
	return errors.Join(err, os.Remove(l.path))
}

// localPasswordFile returns the path of the password of the server at a loopback port.
func localPasswordFile(port string) (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "signalbox", "nats", port+".password"), nil
}

// localPassword returns the password of the server at url, or "" if none was
// published for it, or other people can read it.
func localPassword(serverURL string) string {
	port, ok := loopbackPort(serverURL)
	if !ok {
		return ""
	}
	path, err := localPasswordFile(port)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// loopbackPort returns the port of a URL of one server on this machine. As in NATS, the
// scheme may be left out.
func loopbackPort(serverURL string) (port string, ok bool) {
	if serverURL = strings.TrimSpace(serverURL); serverURL != "" && !strings.Contains(serverURL, "://") {
		serverURL = "nats://" + serverURL
	}
	u, err := url.Parse(strings.TrimSpace(serverURL))
	if err != nil || u.User != nil || strings.Contains(serverURL, ",") {
		return "", false
	}
	ip := net.ParseIP(u.Hostname())
	if u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", false
	}
	if port = u.Port(); port == "" {
		port = "4222"
	}
	return port, true
}
