package deploy_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const clusterFile = "deploy/compose.cluster.yml"

// cluster is the part of the Compose format that the file uses.
type cluster struct {
	Services map[string]struct {
		Image       string                       `yaml:"image"`
		Command     []string                     `yaml:"command"`
		WorkingDir  string                       `yaml:"working_dir"`
		Restart     string                       `yaml:"restart"`
		Healthcheck map[string]any               `yaml:"healthcheck"`
		Environment map[string]string            `yaml:"environment"`
		Volumes     []string                     `yaml:"volumes"`
		DependsOn   map[string]map[string]string `yaml:"depends_on"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
}

func loadCluster(t *testing.T) (c cluster) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, clusterFile)), &c); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	return c
}

func TestEachServiceReachesAllServersOfTheClusterByTLS(t *testing.T) {
	over, base := loadCluster(t), load(t)
	servers := []string{"nats", "nats-2", "nats-3"}
	for name, s := range base.Services {
		if s.Build == nil || name == "local-forge" {
			continue
		}
		o, ok := over.Services[name]
		if !ok {
			t.Errorf("%s: %s does not have it", clusterFile, name)
			continue
		}
		for _, server := range servers {
			if !slices.Contains(strings.Split(o.Environment["SIGNALBOX_NATS"], ","), "tls://"+server+":4222") {
				t.Errorf("%s does not know %s", name, server)
			}
		}
		if !slices.Contains(o.Volumes, "./"+generated+"/tls/ca.pem:"+o.Environment["SIGNALBOX_NATS_CA"]+":ro") {
			t.Errorf("%s: it trusts %s, mounted are %v", name, o.Environment["SIGNALBOX_NATS_CA"], o.Volumes)
		}
		if makes := name == "orchestrator" || name == "gateway"; (o.Environment["SIGNALBOX_REPLICAS"] == "3") != makes {
			t.Errorf("%s: copies %q", name, o.Environment["SIGNALBOX_REPLICAS"])
		}
	}
	for name := range over.Services {
		if _, ok := base.Services[name]; !ok && !slices.Contains(servers, name) {
			t.Errorf("%s has %s, which is no service", clusterFile, name)
		}
	}
	for _, server := range servers {
		o := over.Services[server]
		if !slices.Contains(o.Command, o.WorkingDir+"/cluster.conf") {
			t.Errorf("%s runs %v in %s, where the files of TLS are not found", server, o.Command, o.WorkingDir)
		}
		if o.Image != base.Services["nats"].Image || o.Environment["NAME"] != server || !slices.Contains(o.Volumes, server+":/data") {
			t.Errorf("%s runs %s as %s, with %v", server, o.Image, o.Environment["NAME"], o.Volumes)
		}
	}
}

func TestTheServersOfTheClusterStartWithTheCertificatesThatAreMade(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not here")
	}
	dir, _ := natsDir(t, "deploy/nats/cluster.conf")
	certificates := filepath.Join(dir, "tls")
	if out, err := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/nats-certificates"), certificates).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("NAME", "nats-2")
	t.Chdir(dir) // as the container, whose files of TLS are beside the configuration
	options := serverOptions(t, "-c", "cluster.conf")
	if options.ServerName != "nats-2" || options.TLSConfig == nil || options.Cluster.TLSConfig == nil || len(options.Routes) != 3 || !options.SyncAlways {
		t.Errorf("name %s, TLS %t, of routes %t, routes %v", options.ServerName, options.TLSConfig != nil, options.Cluster.TLSConfig != nil, options.Routes)
	}
	if options.Cluster.TLSConfig.ClientAuth != tls.RequireAndVerifyClientCert {
		t.Error("a stranger may be a server of the cluster")
	}
	authority, err := os.ReadFile("tls/ca.pem")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	leaf, err := x509.ParseCertificate(options.TLSConfig.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nats", "nats-2", "nats-3", "localhost", "127.0.0.1"} {
		for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			if _, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: pool, KeyUsages: []x509.ExtKeyUsage{use}}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, name := range []string{"tls/server.key"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is for others, too: %v", name, err)
		}
	}
}
