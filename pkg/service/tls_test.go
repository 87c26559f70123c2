package service_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/service"
)

// authority is a certificate authority of a test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string // in PEM
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := authority{certificate: template, key: key}
	a.file, _ = a.issue(t, template, key)
	return a
}

// issue returns files of a certificate and its key, in PEM.
func (a authority) issue(t *testing.T, template *x509.Certificate, key *ecdsa.PrivateKey) (cert, keyFile string) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
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

// leaf returns files of a certificate for a server on loopback, or for a client.
func (a authority) leaf(t *testing.T) (cert, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return a.issue(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, key)
}

func TestNATSIsTrustedByItsCertificate(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	serverCert, serverKey := ca.leaf(t)
	cert, key := ca.leaf(t)
	foreign, foreignKey := other.leaf(t)
	s := natstest.Start(t, natstest.Options{Change: func(o *server.Options) {
		config, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: serverCert, KeyFile: serverKey, CaFile: ca.file, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		o.TLSConfig, o.TLSVerify, o.TLSTimeout = config, true, 5
	}})
	plain := s.URL
	encrypted := "tls" + strings.TrimPrefix(s.URL, "nats")

	nc, err := service.Connect(t.Context(), service.NATS{URL: encrypted, CA: ca.file, Cert: cert, Key: key}, "trusted", quiet())
	if err != nil {
		t.Fatal(err)
	}
	if state, err := nc.TLSConnectionState(); err != nil || state.Version < tls.VersionTLS12 {
		t.Errorf("TLS %x, %v", state.Version, err)
	}
	nc.Close()

	for name, c := range map[string]struct {
		n    service.NATS
		says string
	}{
		"no authority":         {service.NATS{URL: encrypted}, "--nats-ca names the authority"},
		"no authority, no tls": {service.NATS{URL: plain}, "--nats-ca names the authority"},
		"another authority":    {service.NATS{URL: encrypted, CA: other.file, Cert: cert, Key: key}, "--nats-ca names the authority"},
		"half a certificate":   {service.NATS{URL: encrypted, CA: ca.file, Cert: cert}, "--nats-cert and --nats-key belong together"},
		"no key in the file":   {service.NATS{URL: encrypted, CA: ca.file, Cert: cert, Key: ca.file}, "certificates of NATS"},
		"no certificates":      {service.NATS{URL: encrypted, CA: key, Cert: cert, Key: key}, "certificates of NATS"},
	} {
		if _, err := service.Connect(t.Context(), c.n, "stranger", quiet()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	// The server refuses these; they wait as for a server that is away.
	for name, n := range map[string]service.NATS{
		"no client certificate":     {URL: encrypted, CA: ca.file},
		"another's certificate":     {URL: encrypted, CA: ca.file, Cert: foreign, Key: foreignKey},
		"no client certificate yet": {URL: plain, CA: ca.file},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if nc, err := service.Connect(ctx, n, "stranger", quiet()); err == nil {
			t.Errorf("%s: connected to %s", name, nc.ConnectedUrl())
		}
		cancel()
	}
}

func TestMetricsAreServedByTLSToWhoHasTheToken(t *testing.T) {
	ca, server := newAuthority(t), start(t)
	cert, key := ca.leaf(t)
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(ca.file)
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	secured := []string{"--http-cert", cert, "--http-key", key, "--http-token-file", tokenFile}
	p := &program{setup: func(_ context.Context, h *service.Host) error {
		h.Add("ask", func(ctx context.Context) error {
			_, port, err := net.SplitHostPort(strings.TrimPrefix(h.HTTP, "https://"))
			if err != nil {
				return err
			}
			for path, want := range map[string]map[string]int{
				"/metrics": {"": 401, "Bearer wrong": 401, "Bearer secret": 200},
				"/healthz": {"": 200}, "/readyz": {"": 200},
			} {
				for header, status := range want {
					r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1:"+port+path, nil)
					if err != nil {
						return err
					}
					r.Header.Set("Authorization", header)
					resp, err := client.Do(r)
					if err != nil {
						return err
					}
					resp.Body.Close()
					if resp.StatusCode != status {
						t.Errorf("%s with %q: %s, want %d", path, header, resp.Status, status)
					}
				}
			}
			var out bytes.Buffer
			if code := service.Run(ctx, service.Main{Name: "worker", Program: &program{}, Stderr: &out,
				Args: append([]string{"--healthcheck", "--http", "127.0.0.1:" + port}, secured...)}); code != 0 {
				t.Errorf("its healthcheck ends with %d: %s", code, out.String())
			}
			return nil
		})
		return nil
	}}
	var out bytes.Buffer
	if code := service.Run(t.Context(), service.Main{Name: "worker", Program: p, Stderr: &out,
		Args: append([]string{"--nats", server.ClientURL(), "--http", "0.0.0.0:0"}, secured...)}); code != 0 {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}
