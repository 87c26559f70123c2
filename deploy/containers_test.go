package deploy_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

// containers is the set of docker-compose.yml on a Docker engine, without Compose and without a registry. Each
// container has the options that the file gives its service. Its image has the programs; git, bubblewrap
// and Go are those of this machine, which it sees below /usr.
type containers struct {
	file    compose
	dir     string // a copy of deploy/, with keys of its own
	name    string // of the network and the image, and the beginning of each container's name
	bin     string
	images  map[string]string // of services that are of another version
	env     map[string]string // the .env
	started []string
	nats    string // its address on this machine
	since   string // logs count from here on
}

// newContainers makes keys, an image and a network, or skips where no engine answers.
func newContainers(t *testing.T) *containers {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "docker", "info", "--format", "{{.OSType}} {{.ServerVersion}}").Output(); err != nil || !strings.HasPrefix(string(out), "linux ") {
		t.Skip("no Docker engine answers: the containers are not tried")
	}
	bin := programtest.Services(t)
	s := &containers{file: load(t), dir: t.TempDir(), name: fmt.Sprint("signalbox-test-", os.Getpid()), bin: bin}
	if err := os.CopyFS(s.path("deploy"), os.DirFS(filepath.Join(root, "deploy"))); err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{generated, "deploy/brains/demo"} { // by containers-up, for a set of its own
		if err := os.RemoveAll(s.path(made)); err != nil {
			t.Fatal(err)
		}
	}
	uid := os.Getuid()
	if uid == 0 {
		uid = 10001
	}
	s.env = map[string]string{
		"SIGNALBOX_UID": fmt.Sprint(uid), "REPO": "acme/widgets", "FORGE_URL": "http://local-forge:3000/api/v3/", "FORGE_TOKEN_FILE": "./deploy/nats/access/forge.token",
		"DEVELOPER_BRAIN": "exec:sh /brains/demo/developer.sh", "TESTER_BRAIN": "tester.creating_tests=exec:sh /brains/demo/tester.sh",
	}
	for _, args := range [][]string{{"auth", "init", "--dir", "deploy/nats/access"}, {"demo", "--unpack", "deploy/brains/demo"}} {
		if out, err := s.signalbox(args...); err != nil {
			t.Fatalf("signalbox %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"forge", "person"} {
		if err := os.WriteFile(s.path("deploy/nats/access/"+name+".token"), []byte(strings.Repeat(name, 5)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.own(t, "deploy/nats/access")
	s.mode(t, "deploy/brains")
	t.Cleanup(func() { s.end(t) })
	s.image(t, bin, s.name)
	s.try(t)
	s.docker(t, "network", "create", s.name)
	return s
}

// try skips the test on a machine whose engine runs no container, or none in which bubblewrap works with any system call.
func (s *containers) try(t *testing.T) {
	t.Helper()
	args := []string{"run", "--rm", "--user", s.env["SIGNALBOX_UID"], "--cap-drop", "ALL", "--security-opt", "seccomp=unconfined", "--volume", "/usr:/usr:ro", s.name,
		"bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"}
	if out, err := exec.CommandContext(t.Context(), "docker", args...).CombinedOutput(); err != nil {
		t.Skipf("the Docker engine here runs no container with bubblewrap: the containers are not tried: %v: %s", err, out)
	}
}

func (s *containers) path(name string) string { return filepath.Join(s.dir, name) }

// own gives the files of a directory to the containers' user.
func (s *containers) own(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	if out, err := exec.CommandContext(t.Context(), "chown", "-R", s.env["SIGNALBOX_UID"], s.path(dir)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// untilHealthy waits for each container that has a health check.
func (s *containers) untilHealthy(t *testing.T) {
	t.Helper()
	for _, name := range s.started {
		s.until(t, name+" is healthy", func() bool {
			health, err := exec.Command("docker", "inspect", "--format", "{{if .State.Health}}{{.State.Health.Status}}{{end}}", name).Output()
			return err != nil || strings.TrimSpace(string(health)) == "" || strings.TrimSpace(string(health)) == "healthy"
		})
	}
}

// mode lets the containers' user read a directory.
func (s *containers) mode(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "chmod", "-R", "go+rX", s.path(dir)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// image imports the programs of a directory, and the directories and links that their user needs.
func (s *containers) image(t *testing.T, bin, name string) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(h tar.Header, content []byte) {
		h.Size = int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"usr/", "etc/", "opt/", "sbin/", "run/", "tmp/", "home/", "home/signalbox/", "var/", "var/lib/", "var/lib/signalbox/", "data/", "prometheus/"} {
		h := tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}
		switch {
		case strings.Contains(dir, "signalbox"):
			h.Mode, h.Uid = 0o770, 10001
		case dir == "tmp/":
			h.Mode = 0o1777
		}
		add(h, nil)
	}
	for _, link := range []string{"bin", "lib", "lib64"} {
		add(tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: "usr/" + link}, nil)
	}
	add(tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, []byte("signalbox:x:10001:0::/home/signalbox:/bin/sh\n"))
	files, err := os.ReadDir(bin)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		path := filepath.Join(bin, file.Name())
		if to, err := os.Readlink(path); err == nil {
			add(tar.Header{Typeflag: tar.TypeSymlink, Name: "opt/" + file.Name(), Linkname: to}, nil)
		} else if _, service := s.file.Services[file.Name()]; service || strings.HasPrefix(file.Name(), "signalbox") {
			add(tar.Header{Typeflag: tar.TypeReg, Name: "opt/" + file.Name(), Mode: 0o755}, []byte(readFile(t, path)))
		}
	}
	add(tar.Header{Typeflag: tar.TypeReg, Name: "opt/nats-server", Mode: 0o755}, []byte(readFile(t, programtest.NATSServer(t))))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	args := []string{"import", "--change", "ENV PATH=/opt:/usr/local/go/bin:/usr/bin SIGNALBOX_LOG_FORMAT=json HOME=/home/signalbox", "--change", "WORKDIR /var/lib/signalbox", "--change", "VOLUME /var/lib/signalbox"}
	cmd := exec.CommandContext(t.Context(), "docker", append(args, "-", name)...)
	cmd.Stdin = &b
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("docker import: %v\n%s", err, out)
	}
}

// start runs a container of a service with all that the file gives it, and more options of `docker run`.
func (s *containers) start(t *testing.T, service, number string, more ...string) {
	t.Helper()
	c := s.file.Services[service]
	name := s.name + "-" + service
	if slices.Contains(s.started, name) {
		name += "-" + number
	}
	args := []string{"run", "--detach", "--name", name, "--network", s.name, "--network-alias", service, "--volume", "/usr:/usr:ro"}
	option := func(flag string, values ...string) {
		for _, value := range values {
			if value = s.expand(value); value != "" && value != "0" {
				args = append(args, flag, value)
			}
		}
	}
	if c.Build == nil {
		option("--entrypoint", map[string]string{"nats": "nats-server", "prometheus": "prometheus"}[service])
	} else {
		option("--health-cmd", service+" --healthcheck")
		option("--health-interval", "1s")
	}
	if service == "developer" || service == "tester" {
		option("--volume", goCache(t)+":/home/signalbox/.cache/go-build:ro")
	}
	option("--user", c.User)
	option("--restart", c.Restart)
	option("--cap-drop", c.CapDrop...)
	option("--tmpfs", c.Tmpfs...)
	option("--security-opt", c.SecurityOpt...)
	option("--memory", c.Memory)
	option("--pids-limit", fmt.Sprint(c.PIDs))
	if c.Init {
		args = append(args, "--init")
	}
	if c.ReadOnly {
		args = append(args, "--read-only")
	}
	for key, value := range c.Environment {
		option("--env", key+"="+value)
	}
	for _, volume := range c.Volumes {
		if from, to, _ := strings.Cut(volume, ":"); strings.HasPrefix(from, "./") {
			option("--volume", s.path(from)+":"+to)
		} else {
			option("--volume", to)
		}
	}
	for _, secret := range c.Secrets {
		file := s.path(s.expand(s.file.Secrets[secret].File))
		if _, err := os.Stat(file); err == nil { // an older version makes fewer
			option("--volume", file+":/run/secrets/"+secret+":ro")
		}
	}
	for _, port := range c.Ports {
		option("--publish", "127.0.0.1::"+port[strings.LastIndex(port, ":")+1:]) // any port is free on the host
	}
	args = slices.Concat(args, more, []string{cmp.Or(s.images[service], s.name)}, c.Command)
	s.started = append(s.started, name)
	s.docker(t, args...)
}

// goCache is the build cache of this machine: a container of an image of the Dockerfile has the standard library in its own.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

var variable = regexp.MustCompile(`\$\{([A-Z_]+)(?::[-?]([^}]*))?\}`)

// expand replaces variables as Compose does.
func (s *containers) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(use string) string {
		m := variable.FindStringSubmatch(use)
		return cmp.Or(s.env[m[1]], m[2])
	})
}

// signalbox runs a command with the admin's key and returns its output.
func (s *containers) signalbox(args ...string) (string, error) {
	if args[0] != "auth" && args[0] != "demo" {
		if now, err := exec.Command("docker", "port", s.name+"-nats", "4222").Output(); err == nil {
			s.nats = strings.TrimSpace(string(now)) // a restart changes it
		}
		args = append(args, "--nats", "nats://"+s.nats, "--nats-nkey", "deploy/nats/access/admin-admin.nk")
	}
	program, err := filepath.Abs(filepath.Join(s.bin, "signalbox"))
	if err != nil {
		return "", err
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// remove ends a container.
func (s *containers) remove(t *testing.T, name string) {
	t.Helper()
	if full := s.name + "-" + name; slices.Contains(s.started, full) {
		s.docker(t, "rm", "--force", "--volumes", full)
		s.started = slices.DeleteFunc(s.started, func(other string) bool { return other == full })
	}
}

// docker runs its command line in the directory that paths of the file start from.
func (s *containers) docker(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "docker", args...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// forge returns the address of the forge, and the token of a person.
func (s *containers) forge(t *testing.T) (address, token string) {
	t.Helper()
	return s.docker(t, "port", s.name+"-local-forge", "3000"), strings.TrimSpace(readFile(t, s.path("deploy/nats/access/person.token")))
}

// push puts the demonstration's repository on the forge.
func (s *containers) push(t *testing.T) {
	t.Helper()
	address, token := s.forge(t)
	push := exec.CommandContext(t.Context(), "git", "push", "--quiet", "http://ann:"+token+"@"+address+"/acme/widgets.git", "main")
	push.Dir = s.path("deploy/brains/demo/widgets")
	if out, err := push.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// post sends a request of the demonstration to the forge.
func (s *containers) post(t *testing.T, path, file string) {
	t.Helper()
	s.ask(t, http.MethodPost, path, readFile(t, s.path("deploy/brains/demo/"+file)), http.StatusCreated)
}

// ask returns the answer of the forge about the repository.
func (s *containers) ask(t *testing.T, method, path, body string, want int) string {
	t.Helper()
	address, token := s.forge(t)
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+"/api/v3/repos/acme/widgets/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Host = "localhost"
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != want {
		t.Fatalf("%s %s: %s, %v", method, path, answer.Status, err)
	}
	return string(text)
}

// untilState waits until an issue is in a state.
func (s *containers) untilState(t *testing.T, issue int, want string) {
	t.Helper()
	s.until(t, fmt.Sprintf("issue %d is %s", issue, want), func() bool {
		shown, err := s.signalbox("show", fmt.Sprint("acme/widgets/", issue), "--json")
		return err == nil && strings.Contains(strings.ReplaceAll(shown, `": "`, `":"`), `"state":"`+want+`"`)
	})
}

// until waits five minutes at most: the machine may be slow.
func (s *containers) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit := time.After(5 * time.Minute)
	for tick := time.NewTicker(200 * time.Millisecond); !is(); {
		select {
		case <-tick.C:
		case <-limit:
			out, err := s.signalbox("ls", "--all")
			t.Fatalf("never came true: %s\n%s%v", what, out, err)
		}
	}
}

// end removes all that was made, and shows the logs of a failure.
func (s *containers) end(t *testing.T) {
	if t.Failed() {
		for _, name := range s.started {
			out, _ := exec.Command("docker", "logs", "--tail", "15", name).CombinedOutput()
			t.Logf("%s:\n%s", name, out)
		}
	}
	for _, args := range [][]string{append([]string{"rm", "--force", "--volumes"}, s.started...), {"network", "rm", s.name}, {"image", "rm", s.name}} {
		if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
			t.Logf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
