package deploy_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instruction is one instruction of a Dockerfile with its continued lines.
type instruction struct {
	name string // FROM, COPY, …
	args []string
}

func instructions(dockerfile string) []instruction {
	text := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(dockerfile, "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	var all []instruction
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			all = append(all, instruction{words[0], words[1:]})
		}
	}
	return all
}

// stages returns the names of the targets of a Dockerfile.
func stages(dockerfile string) []string {
	var names []string
	for _, i := range instructions(dockerfile) {
		if i.name == "FROM" && len(i.args) == 3 {
			names = append(names, i.args[2])
		}
	}
	return names
}

func TestTheImageIsBuiltFromFilesThatAreThere(t *testing.T) {
	dockerfile := read(t, "deploy/Dockerfile")
	known := stages(dockerfile)
	for _, i := range instructions(dockerfile) {
		switch {
		case i.name == "FROM" && !slices.Contains(known, i.args[0]) &&
			!regexp.MustCompile(`^(golang:\d+\.\d+\.\d+-bookworm|debian:bookworm-slim|scratch)$`).MatchString(i.args[0]):
			t.Errorf("FROM %s is no pinned base", i.args[0])
		case i.name == "COPY" && strings.HasPrefix(i.args[0], "--from="):
			if from := strings.TrimPrefix(i.args[0], "--from="); !slices.Contains(known, from) {
				t.Errorf("COPY from %s, which is no stage", from)
			}
		case i.name == "COPY":
			for _, source := range i.args[:len(i.args)-1] {
				exists(t, source)
			}
		}
	}
}

func TestTheImageHasTheGoThatTheModulesAskFor(t *testing.T) {
	want := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	for _, m := range regexp.MustCompile(`golang:(\d+\.\d+)`).FindAllStringSubmatch(read(t, "deploy/Dockerfile"), -1) {
		if m[1] != want {
			t.Errorf("an image has Go %s, go.mod asks for %s", m[1], want)
		}
	}
}

func TestEveryServiceRunsAsNobodySpecialAndSaysWhetherItIsReady(t *testing.T) {
	last := map[string]string{} // by stage and instruction
	stage, base := "", ""
	for _, i := range instructions(read(t, "deploy/Dockerfile")) {
		if i.name == "FROM" {
			stage, base = i.args[2], i.args[0]
			for _, inherited := range []string{"USER", "HEALTHCHECK", "ENTRYPOINT"} {
				last[stage+inherited] = last[base+inherited]
			}
			continue
		}
		last[stage+i.name] = strings.Join(i.args, " ")
	}
	for _, stage := range []string{"static", "runtime", "runtime-go"} {
		if user := last[stage+"USER"]; user != "10001:0" {
			t.Errorf("%s runs as %q", stage, user)
		}
		if check := last[stage+"HEALTHCHECK"]; !strings.HasSuffix(check, `CMD ["signalbox-service", "--healthcheck"]`) {
			t.Errorf("%s is checked by %q", stage, check)
		}
		if entry := last[stage+"ENTRYPOINT"]; entry != "" {
			t.Errorf("%s starts %q: the command of a container is the name of its service", stage, entry)
		}
	}
}

// variables returns the SIGNALBOX_ variables that every image sets.
func variables(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, i := range instructions(read(t, filepath.Join("deploy", "Dockerfile"))) {
		if i.name != "ENV" {
			continue
		}
		for _, pair := range i.args {
			if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "SIGNALBOX_") {
				names = append(names, name)
			}
		}
	}
	return names
}

// A deny list forgets: keys of deploy/nats/access and .env were in layers that way.
func TestOnlySourceGetsIntoABuild(t *testing.T) {
	var rules []string
	for line := range strings.Lines(read(t, ".dockerignore")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			rules = append(rules, line)
		}
	}
	want := []string{"*", "!go.mod", "!go.sum", "!go.work", "!go.work.sum", "!pkg", "!proto", "!services"}
	if !slices.Equal(rules, want) {
		t.Errorf(".dockerignore has %q, want %q", rules, want)
	}
	if entries, err := filepath.Glob(filepath.Join("..", "deploy", "*dockerignore")); err != nil || len(entries) > 0 {
		t.Errorf("BuildKit reads %v and the other builder does not: %v", entries, err)
	}
}
