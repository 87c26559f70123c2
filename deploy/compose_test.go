// Package deploy_test checks the deployment files without a container engine: the
// files they name exist, and the binaries know the flags and variables they set.
package deploy_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/signalbox/signalbox/pkg/agent/roles"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// compose is the part of the Compose format that docker-compose.yml uses.
type compose struct {
	Name     string             `yaml:"name"`
	Service  Container          `yaml:"x-service"`
	Small    Container          `yaml:"x-small"`
	Process  map[string]string  `yaml:"x-process"`
	System   map[string]string  `yaml:"x-system"`
	Agent    Container          `yaml:"x-agent"`
	Coder    Container          `yaml:"x-coder"`
	Role     Container          `yaml:"x-role"`
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
	Secrets  map[string]struct {
		File string `yaml:"file"`
	} `yaml:"secrets"`
}

// Container has the keys that several services share.
type Container struct {
	User            string                       `yaml:"user"`
	Restart         string                       `yaml:"restart"`
	Init            bool                         `yaml:"init"`
	StopGracePeriod string                       `yaml:"stop_grace_period"`
	DependsOn       map[string]map[string]string `yaml:"depends_on"`
	SecurityOpt     []string                     `yaml:"security_opt"`
	CapDrop         []string                     `yaml:"cap_drop"`
	ReadOnly        bool                         `yaml:"read_only"`
	Tmpfs           []string                     `yaml:"tmpfs"`
	PIDs            int                          `yaml:"pids_limit"`
	Memory          string                       `yaml:"mem_limit"`
	Scale           int                          `yaml:"scale"`
	Image           string                       `yaml:"image"`
	Build           *build                       `yaml:"build"`
}

type service struct {
	Container     `yaml:",inline"`
	Profiles      []string          `yaml:"profiles"`
	Command       []string          `yaml:"command"`
	Environment   map[string]string `yaml:"environment"`
	Ports         []string          `yaml:"ports"`
	Volumes       []string          `yaml:"volumes"`
	Secrets       []string          `yaml:"secrets"`
	ContainerName string            `yaml:"container_name"`
	Healthcheck   map[string]any    `yaml:"healthcheck"`
}

type build struct {
	Context    string            `yaml:"context"`
	Dockerfile string            `yaml:"dockerfile"`
	Target     string            `yaml:"target"`
	Args       map[string]string `yaml:"args"`
}

const root = ".."

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func load(t *testing.T) compose {
	t.Helper()
	var c compose
	if err := yaml.UnmarshalWithOptions([]byte(read(t, "docker-compose.yml")), &c, yaml.Strict()); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	return c
}

func exists(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, name)); err != nil {
		t.Error(err)
	}
}

func TestEveryServiceIsTheCommandOfAnImageWithWhatItNeeds(t *testing.T) {
	c := load(t)
	role := func(name string) bool {
		return slices.ContainsFunc(roles.All(), func(r roles.Role) bool { return r.Name == name })
	}
	for name, s := range c.Services {
		if s.Build == nil {
			if !regexp.MustCompile(`:v?\d+\.\d+\.\d+(-\w+)?$`).MatchString(s.Image) {
				t.Errorf("%s: the image %s has no exact version", name, s.Image)
			}
			continue
		}
		want := "runtime"
		if role(name) {
			want = "runtime-go"
		}
		if s.Command[0] == "signalbox" { // a command of the program, and no service
			s.Command = s.Command[1:]
		}
		if s.Build.Target != want || s.Image != "signalbox/"+want+":${SIGNALBOX_VERSION:-dev}" || len(s.Command) == 0 || s.Command[0] != name {
			t.Errorf("%s: builds %s as %s, and runs %q", name, s.Build.Target, s.Image, s.Command)
		}
		file := filepath.Join(s.Build.Context, s.Build.Dockerfile)
		if !slices.Contains(stages(read(t, file)), s.Build.Target) {
			t.Errorf("%s: %s has no target %s", name, file, s.Build.Target)
		}
	}
}

func TestEveryServiceOfTheRepositoryIsDeployed(t *testing.T) {
	c := load(t)
	mains, err := filepath.Glob(filepath.Join(root, "services", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("no services: %v", err)
	}
	for _, file := range mains {
		name := filepath.Base(filepath.Dir(file))
		if _, ok := c.Services[name]; !ok && name != "signalbox" && name != "signalbox-github" { // the programs
			t.Errorf("services/%s is not in docker-compose.yml", name)
		}
	}
}

func TestAnyServiceCanBeScaled(t *testing.T) {
	for name, s := range load(t).Services {
		if s.ContainerName != "" || s.Build != nil && len(s.Ports) > 0 && name != "local-forge" && name != "console" { // the directory and the sessions have one owner
			t.Errorf("%s: a name %q or ports %v on the host allow one container only", name, s.ContainerName, s.Ports)
		}
	}
}

func TestWhatIsMountedDependedOnOrAskedForIsThere(t *testing.T) {
	c := load(t)
	used := map[string]bool{}
	for name, s := range c.Services {
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if strings.HasPrefix(source, ".") {
				if !strings.HasPrefix(source, "./"+generated) {
					exists(t, source)
				}
				continue
			}
			used[source] = true
			if _, ok := c.Volumes[source]; !ok {
				t.Errorf("%s: there is no volume %s", name, source)
			}
		}
		for other := range s.DependsOn {
			if _, ok := c.Services[other]; !ok {
				t.Errorf("%s: depends on %s, which is no service", name, other)
			}
		}
		for _, secret := range s.Secrets {
			used[secret] = true
			if _, ok := c.Secrets[secret]; !ok {
				t.Errorf("%s: there is no secret %s", name, secret)
			}
		}
		for variable, value := range s.Environment {
			if secret, ok := strings.CutPrefix(value, "/run/secrets/"); ok && !slices.Contains(s.Secrets, secret) {
				t.Errorf("%s: %s names the secret %s, which it is not given", name, variable, secret)
			}
		}
	}
	for volume := range c.Volumes {
		if !used[volume] {
			t.Errorf("nothing uses the volume %s", volume)
		}
	}
	for secret := range c.Secrets {
		if !used[secret] {
			t.Errorf("nothing uses the secret %s", secret)
		}
	}
}

func TestTheExampleEnvironmentHasWhatTheFileAsksFor(t *testing.T) {
	text, example := read(t, "docker-compose.yml"), read(t, "deploy/example.env")
	asked := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$\{([A-Z][A-Z_]*)`).FindAllStringSubmatch(text, -1) {
		asked[m[1]] = true
	}
	given := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([A-Z_]+)=`).FindAllStringSubmatch(example, -1) {
		given[m[1]] = true
	}
	for name := range asked {
		if !given[name] {
			t.Errorf("deploy/example.env does not say what %s is", name)
		}
	}
	for name := range given {
		if !asked[name] {
			t.Errorf("deploy/example.env has %s, which nothing asks for", name)
		}
	}
}

func TestNATSKeepsWhatItAcknowledged(t *testing.T) {
	for file, want := range map[string]string{
		"deploy/nats/nats.conf":      "127.0.0.1", // its user's machine only
		"deploy/nats/container.conf": "0.0.0.0",   // the other containers
	} {
		dir, _ := natsDir(t, file)
		// As the program reads its command line: it refuses a flag for a key of the file.
		options := serverOptions(t, "-c", filepath.Join(dir, filepath.Base(file)))
		if !options.JetStream || !options.SyncAlways || options.HTTPPort != 8222 || options.Port != 4222 {
			t.Errorf("%s: JetStream %t, sync always %t, monitoring %d, clients %d",
				file, options.JetStream, options.SyncAlways, options.HTTPPort, options.Port)
		}
		if options.Host != want || options.HTTPHost != "127.0.0.1" {
			t.Errorf("%s: it listens on %s, and for monitoring on %s", file, options.Host, options.HTTPHost)
		}
	}
}

func TestTheContainerOfNATSStartsWithItsFileAndKeepsStreamsOnAVolume(t *testing.T) {
	nats := load(t).Services["nats"]
	file := "deploy/nats/container.conf"
	dir, _ := natsDir(t, file)
	if len(nats.Command) < 2 || nats.Command[len(nats.Command)-2] != "-c" {
		t.Fatalf("the command is %q", nats.Command)
	}
	mounted := nats.Command[len(nats.Command)-1]
	command := append(slices.Clone(nats.Command[:len(nats.Command)-1]), filepath.Join(dir, filepath.Base(file)))
	if options := serverOptions(t, command...); !slices.Contains(nats.Volumes, "nats:"+options.StoreDir) {
		t.Errorf("streams are kept in %s, mounted are %v", options.StoreDir, nats.Volumes)
	}
	if !slices.Contains(nats.Volumes, "./"+file+":"+mounted+":ro") ||
		!slices.Contains(nats.Volumes, "./"+generated+"/accounts.conf:"+filepath.Dir(mounted)+"/access/accounts.conf:ro") {
		t.Errorf("it reads %s, mounted are %v", mounted, nats.Volumes)
	}
}

// serverOptions returns the options that nats-server has with these arguments.
func serverOptions(t *testing.T, arguments ...string) *server.Options {
	t.Helper()
	options, err := server.ConfigureOptions(flag.NewFlagSet("nats-server", flag.ContinueOnError), arguments, func() {}, func() {}, func() {})
	if err != nil {
		t.Fatalf("nats-server %s: %v", strings.Join(arguments, " "), err)
	}
	return options
}

// generated is where signalbox auth init puts what the deployment files use.
const generated = "deploy/nats/access"

// natsDir returns a directory with a copy of a nats-server file and the accounts of a new
// system, and the directory of those accounts.
func natsDir(t *testing.T, file string) (string, access.Directory) {
	t.Helper()
	dir := t.TempDir()
	made := access.Directory(filepath.Join(dir, "access"))
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, d := range defs {
		roles = append(roles, d.Roles()...)
	}
	if _, err := made.Init(append(access.Services(roles...), access.Party{Kind: access.Admin, Name: "admin"})...); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(read(t, file)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, made
}

func TestEachServiceHasTheKeyOfItsOwnAccountAndNoOther(t *testing.T) {
	c := load(t)
	dir, made := natsDir(t, "deploy/nats/container.conf")
	options := serverOptions(t, "-c", filepath.Join(dir, "container.conf"))
	if len(options.Nkeys) == 0 || options.NoAuthUser != "" {
		t.Fatalf("there are %d keys, and %q needs none", len(options.Nkeys), options.NoAuthUser)
	}
	seeds, err := made.ServiceSeeds()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for p := range seeds {
		files[strings.TrimPrefix(p.String(), "agent-")] = "./" + generated + "/" + p.String() + ".nk"
	}
	files["backup"] = "./" + generated + "/admin-admin.nk" // it reads the log itself
	for name, s := range c.Services {
		if s.Build == nil || name == "local-forge" { // it connects to no NATS
			continue
		}
		secret := "nkey-" + name
		if s.Environment["SIGNALBOX_NATS_NKEY"] != "/run/secrets/"+secret || files[name] == "" || c.Secrets[secret].File != files[name] {
			t.Errorf("%s: its key is %q of %s, want that of %s", name, s.Environment["SIGNALBOX_NATS_NKEY"], c.Secrets[secret].File, files[name])
		}
		for _, given := range s.Secrets {
			if given != secret && given != "forge-token" && (name != "notify" || given != "notify-targets") &&
				(name != "orchestrator" || given != "attest-key") {
				t.Errorf("%s: it is given %s", name, given)
			}
		}
	}
}

func TestTheContainersUserOwnsEachSecret(t *testing.T) {
	script, err := os.ReadFile("../scripts/containers-up")
	if err != nil {
		t.Fatal(err)
	}
	var owned []string
	for _, m := range regexp.MustCompile(`-name '?([^' ]+)`).FindAllStringSubmatch(string(script), -1) {
		owned = append(owned, m[1])
	}
	for name, secret := range load(t).Secrets {
		file := strings.TrimSuffix(filepath.Base(secret.File), "}") // of ${NAME:-file}
		if !slices.ContainsFunc(owned, func(pattern string) bool { ok, _ := filepath.Match(pattern, file); return ok }) {
			t.Errorf("%s: containers-up leaves %s to root, which no container is; its patterns are %q", name, file, owned)
		}
	}
}

// Keys that the test does not know, such as privileged, cap_add and network_mode, load refuses.
func TestAContainerGetsNoMoreThanItNeeds(t *testing.T) {
	forgeSide := []string{"gateway", "pm", "committer", "shepherd", "git-manager", "local-forge"}
	for name, s := range load(t).Services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: %s is published beyond this machine", name, port)
			}
		}
		if s.Build != nil && (s.User != "${SIGNALBOX_UID:-10001}:0" || !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges") ||
			slices.Contains(s.SecurityOpt, "seccomp=unconfined") || s.PIDs == 0 || s.Memory == "") {
			t.Errorf("%s: user %s, capabilities dropped %v, options %v, processes %d, memory %q", name, s.User, s.CapDrop, s.SecurityOpt, s.PIDs, s.Memory)
		}
		for _, volume := range s.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			if named := !strings.ContainsAny(from, "./~$"); !named && (!strings.HasPrefix(from, "./deploy/") || !strings.HasSuffix(volume, ":ro")) {
				t.Errorf("%s: it mounts %s: want a named volume, or a file below deploy that it may only read", name, volume)
			}
		}
		if uses := slices.Contains(s.Secrets, "forge-token"); uses != slices.Contains(forgeSide, name) {
			t.Errorf("%s: it has the forge's token: %t", name, uses)
		}
		for key, value := range s.Environment {
			secret := strings.Contains(key, "TOKEN") || strings.Contains(key, "SECRET") || strings.Contains(key, "PASSWORD") || strings.Contains(key, "NKEY")
			if secret && !strings.HasPrefix(value, "/run/secrets/") {
				t.Errorf("%s: %s is in the environment, which each process in the container reads", name, key)
			}
		}
	}
}
