package deploy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

// toolchains are the examples of images for agents, with packages of Debian that each has.
var toolchains = map[string][]string{
	"node":   {"nodejs", "npm", "g++"},
	"python": {"python3", "python3-pip", "python3-venv", "gcc"},
}

func TestAnExampleOfAgentsIsTheRuntimeWithItsToolchain(t *testing.T) {
	for name, packages := range toolchains {
		all := instructions(read(t, "deploy/agents/"+name+".Dockerfile"))
		last := map[string]string{}
		for _, i := range all {
			last[i.name] = strings.Join(i.args, " ")
			if slices.Contains([]string{"ENTRYPOINT", "CMD", "HEALTHCHECK", "COPY", "ADD"}, i.name) {
				t.Errorf("%s: %s is that of the runtime", name, i.name)
			}
		}
		if last["ARG"] != "RUNTIME=signalbox/runtime:dev" || last["FROM"] != "${RUNTIME} AS runtime-"+name || last["USER"] != "10001:0" {
			t.Errorf("%s: from %q with %q, as %q", name, last["FROM"], last["ARG"], last["USER"])
		}
		installed := strings.Fields(strings.Join(all[3].args, " "))
		for _, p := range packages {
			if !slices.Contains(installed, p) {
				t.Errorf("%s does not install %s: %v", name, p, installed)
			}
		}
	}
	files, err := filepath.Glob("agents/*.Dockerfile")
	if err != nil || len(files) != len(toolchains) {
		t.Errorf("there are the examples %v: %v", files, err)
	}
}

func TestAgentsOfAnExampleShareTheirPackages(t *testing.T) {
	var over struct {
		Services map[string]struct {
			Image   string   `yaml:"image"`
			Build   build    `yaml:"build"`
			Volumes []string `yaml:"volumes"`
		} `yaml:"services"`
		Volumes map[string]any `yaml:"volumes"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/agents/compose.yml")), &over); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	base := load(t)
	work, _, _ := strings.Cut(base.Services["developer"].Environment["SIGNALBOX_WORK_DIR"], ":")
	for name, s := range over.Services {
		if !slices.ContainsFunc(roles.All(), func(r roles.Role) bool { return r.Name == name }) || len(base.Services[name].Profiles) > 0 {
			t.Errorf("%s is no role that runs without a profile", name)
		}
		if !slices.Equal(s.Volumes, []string{"environments:" + work + "/environments"}) {
			t.Errorf("%s mounts %v", name, s.Volumes)
		}
		for example := range toolchains {
			named := strings.NewReplacer("${AGENTS:-node}", example, "./", "").Replace
			if _, err := os.Stat(filepath.Join(root, named(s.Build.Context), named(s.Build.Dockerfile))); err != nil {
				t.Error(err)
			}
			if target := named(s.Build.Target); !slices.Contains(stages(read(t, "deploy/agents/"+example+".Dockerfile")), target) ||
				named(s.Image) != "signalbox/"+target+":${SIGNALBOX_VERSION:-dev}" {
				t.Errorf("%s builds %s as %s", name, target, named(s.Image))
			}
		}
	}
	if !strings.Contains(read(t, "deploy/Dockerfile"), " "+work+"/environments") {
		t.Errorf("the image has no %s/environments: a new volume there would be root's", work)
	}
	if _, ok := over.Volumes["environments"]; !ok || len(over.Services) < 4 {
		t.Errorf("it has %d services and the volumes %v", len(over.Services), over.Volumes)
	}
}
