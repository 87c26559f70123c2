package allinone_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

// certificate returns files of a certificate for loopback and a name, which vouches for
// itself, and of its key.
func certificate(t *testing.T) (cert, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"*.example.test", "forge.example.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	err = errors.Join(os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return cert, keyFile
}

func TestTheLocalForgeIsServedByTLS(t *testing.T) {
	cert, key := certificate(t)
	trusting := func(name string) *http.Client {
		text, err := os.ReadFile(cert)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(text)
		return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: name}}}
	}
	clone := func(url string, env ...string) error {
		cmd := exec.Command("git", "clone", "-q", url, filepath.Join(t.TempDir(), "clone"))
		cmd.Env = append(os.Environ(), append(env, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return errors.New(string(out))
		}
		return nil
	}
	err := runForge(t, allinone.Config{Web: "127.0.0.1:0", Cert: cert, Key: key}, func(s *allinone.System) {
		address, ok := strings.CutPrefix(s.Forge.URL, "https://")
		if !ok {
			t.Fatalf("it is %s", s.Forge.URL)
		}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Forge.URL+"/api/v3/repos/"+widgets, nil)
		if _, err := http.DefaultClient.Do(r); !errors.As(err, new(*tls.CertificateVerificationError)) {
			t.Errorf("who does not know the certificate: %v", err)
		}
		r.Header.Set("Authorization", "Bearer "+s.Forge.Secret)
		answer, err := trusting("").Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if text, _ := io.ReadAll(answer.Body); !strings.Contains(string(text), `"clone_url":"`+s.Forge.URL+"/"+widgets+`.git"`) {
			t.Errorf("%s: %s", answer.Status, text)
		}
		if status, body := get(t, "http://"+address+"/"+widgets, "", s.Forge.Secret); status != http.StatusBadRequest {
			t.Errorf("without TLS: %d %s", status, body)
		}
		url := "https://ann:" + s.Forge.Secret + "@" + address + "/" + widgets + ".git"
		if err := clone(url, "GIT_SSL_CAINFO="+cert); err != nil {
			t.Errorf("git does not clone: %v", err)
		}
		if err := clone(url); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("git that does not know the certificate: %v", err)
		}
		if err := clone("https://"+address+"/"+widgets+".git", "GIT_SSL_CAINFO="+cert); err == nil {
			t.Error("git clones without a token")
		}
		// The services of the process need no certificate, and speak of the address that people use.
		own, err := github.New(github.Config{BaseURL: s.Forge.API(), Token: s.Forge.Secret})
		if err != nil {
			t.Fatal(err)
		}
		at, err := own.Repository(t.Context(), widgets)
		if err != nil || !strings.HasPrefix(s.Forge.API(), "http://127.0.0.1:") ||
			at.CloneURL != strings.TrimSuffix(s.Forge.API(), "/api/v3/")+"/"+widgets+".git" {
			t.Errorf("services at %s clone from %s, %v", s.Forge.API(), at.CloneURL, err)
		}
		issue, err := own.CreateIssue(t.Context(), widgets, forge.NewIssue{Title: "It breaks", Body: "At once."})
		if err != nil || !strings.HasPrefix(issue.URL, s.Forge.URL) {
			t.Errorf("an issue is at %s, %v", issue.URL, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTheLocalForgeLeavesTheMachineByTLS(t *testing.T) {
	cert, key := certificate(t)
	err := runForge(t, allinone.Config{Web: "0.0.0.0:0", Cert: cert, Key: key}, func(s *allinone.System) {
		if !strings.HasPrefix(s.Forge.URL, "https://forge.example.test:") || !strings.HasPrefix(s.Forge.API(), "http://127.0.0.1:") {
			t.Errorf("it is %s, for its services %s", s.Forge.URL, s.Forge.API())
		}
	})
	if err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		config allinone.Config
		says   string
	}{
		"no TLS":             {allinone.Config{Web: "0.0.0.0:0"}, "--web-cert"},
		"no key":             {allinone.Config{Web: "127.0.0.1:0", Cert: cert}, "belong together"},
		"a key for a cert":   {allinone.Config{Web: "127.0.0.1:0", Cert: key, Key: key}, "--web-cert"},
		"no address":         {allinone.Config{Cert: cert, Key: key}, "say with --web HOST:PORT"},
		"the cert for a key": {allinone.Config{Web: "0.0.0.0:0", Cert: cert, Key: cert}, "--web-cert"},
	} {
		if err := runForge(t, c.config, nil); service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: it ended with %v, want %q", name, err, c.says)
		}
	}
}
