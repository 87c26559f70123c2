package deploy_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/pkg/agent/roles"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

const chart = "deploy/helm"

type object = map[string]any

// at returns the value at a path of a document. A part of the path is a key, or the number of an element.
func at(of any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := of.(object)
			of = m[s]
		case int:
			l, _ := of.([]any)
			if s >= len(l) {
				return nil
			}
			of = l[s]
		}
	}
	return of
}

// rendered returns the objects of the chart with a file of values. It has the few functions of Helm that the
// chart uses; TestHelmTakesTheChart renders it with Helm itself.
func rendered(t *testing.T, values string) (all []object) {
	t.Helper()
	parse := func(name string) (v object) {
		t.Helper()
		if err := yaml.Unmarshal([]byte(read(t, name)), &v); err != nil {
			t.Fatal(yaml.FormatError(err, false, true))
		}
		return v
	}
	about := parse(chart + "/Chart.yaml")
	set := template.New("chart").Option("missingkey=zero")
	set.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b bytes.Buffer
			err := set.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"toYaml": func(v any) (string, error) {
			b, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(b), "\n"), err
		},
		"nindent": func(n int, s string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(s, "\n", pad)
		},
		"quote": func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"default": func(d, v any) any {
			if truth, _ := template.IsTrue(v); !truth {
				return d
			}
			return v
		},
		"dict": func(pairs ...any) object {
			m := object{}
			for i := 0; i < len(pairs); i += 2 {
				m[pairs[i].(string)] = pairs[i+1]
			}
			return m
		},
		"join": func(by string, list []any) string {
			var words []string
			for _, v := range list {
				words = append(words, fmt.Sprint(v))
			}
			return strings.Join(words, by)
		},
		"int": integer,
		"add": func(a, b any) int { return integer(a) + integer(b) },
	})
	files, err := filepath.Glob(filepath.Join(root, chart, "templates", "*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("templates %v: %v", files, err)
	}
	if _, err := set.ParseFiles(files...); err != nil {
		t.Fatal(err)
	}
	data := object{
		"Values": merged(parse(chart+"/values.yaml"), parse(values)), "Release": object{"Name": "acme", "Service": "Helm"},
		"Chart": object{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
	}
	for _, file := range files {
		if filepath.Ext(file) != ".yaml" {
			continue
		}
		var b bytes.Buffer
		if err := set.ExecuteTemplate(&b, filepath.Base(file), data); err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(b.String(), "\n---\n") {
			var one object
			if err := yaml.Unmarshal([]byte(text), &one); err != nil {
				t.Fatalf("%s: %s\n%s", file, yaml.FormatError(err, false, true), text)
			}
			if len(one) > 0 {
				all = append(all, one)
			}
		}
	}
	return all
}

func integer(v any) int {
	var n int
	_, _ = fmt.Sscan(fmt.Sprint(v), &n)
	return n
}

// merged returns values with others over them.
func merged(below, over object) object {
	all := maps.Clone(below)
	for key, v := range over {
		a, one := all[key].(object)
		b, two := v.(object)
		if one && two {
			v = merged(a, b)
		}
		all[key] = v
	}
	return all
}

func valueFiles(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, chart, "ci", "*-values.yaml"))
	if err != nil || len(files) < 4 {
		t.Fatalf("files of values %v: %v", files, err)
	}
	for _, f := range files {
		names = append(names, chart+"/ci/"+filepath.Base(f))
	}
	return names
}

// TestHelmTakesTheChart has Helm check the chart with each file of values and render as many objects as the tests see, and
// has scripts/chart hold them to the API of Kubernetes.
func TestHelmTakesTheChart(t *testing.T) {
	helm, err := exec.LookPath("helm")
	strict, missing := exec.LookPath("chart")
	if err != nil || missing != nil {
		t.Skip("helm or the program of scripts/chart is not here: make chart builds both, and runs this")
	}
	for _, file := range valueFiles(t) {
		values := []string{filepath.Join(root, chart), "--values", filepath.Join(root, file)}
		if out, err := exec.CommandContext(t.Context(), helm, append([]string{"lint", "--strict"}, values...)...).CombinedOutput(); err != nil {
			t.Errorf("helm lint: %v\n%s", err, out)
		}
		out, err := exec.CommandContext(t.Context(), helm, append([]string{"template", "acme"}, values...)...).Output()
		if err != nil {
			t.Fatalf("helm template: %v", err)
		}
		api := exec.CommandContext(t.Context(), strict)
		api.Stdin = bytes.NewReader(out)
		counts, err := api.CombinedOutput()
		if err != nil {
			t.Errorf("%s: the API refuses an object: %s", file, counts)
		}
		if got, want := strings.TrimSpace(string(counts)), countedOf(rendered(t, file)); got != want {
			t.Errorf("%s: Helm renders %s, and the tests see %s", file, got, want)
		}
		t.Logf("%s: %s", file, bytes.TrimSpace(counts))
	}
}

// countedOf returns how many objects of each kind there are, as scripts/chart prints it.
func countedOf(all []object) string {
	counts := map[string]int{}
	for _, o := range all {
		counts[o["kind"].(string)]++
	}
	var each []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		each = append(each, fmt.Sprintf("%s %d", kind, counts[kind]))
	}
	return strings.Join(each, ", ")
}

func TestThePageHasTheNumberOfObjectsForEachFileOfValues(t *testing.T) {
	page := read(t, "docs/containers.md")
	for _, file := range valueFiles(t) {
		row := fmt.Sprintf("| `%s` | %s |", filepath.Base(file), countedOf(rendered(t, file)))
		if t.Log(row); !strings.Contains(page, row) {
			t.Errorf("docs/containers.md does not have the row %s", row)
		}
	}
}

func TestTheChartNamesOnlyWhatTheProgramHas(t *testing.T) {
	bin := programtest.Services(t)
	_, made := natsDir(t, "deploy/nats/container.conf")
	for _, file := range valueFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			deployed := 0
			for _, o := range rendered(t, file) {
				switch o["kind"] {
				case "Deployment":
					deployed++
					checkDeployment(t, bin, string(made), o)
				case "ScaledObject":
					name := strings.TrimPrefix(at(o, "spec", "scaleTargetRef", "name").(string), "acme-")
					if !slices.ContainsFunc(roles.All(), func(r roles.Role) bool { return r.Name == name }) {
						t.Errorf("%s is scaled, and is no role", name)
					}
					of := at(o, "spec", "triggers", 0, "metadata")
					if consumer := at(of, "consumer"); consumer != nil && (consumer != name || at(of, "stream") != subject.EventStream || at(of, "account") != access.System) {
						t.Errorf("%s is scaled by %v", name, of)
					}
				case "Service":
					if at(o, "spec", "ports", 0, "targetPort") != "pages" || at(o, "spec", "selector", "app.kubernetes.io/component") != "console" {
						t.Errorf("the service leads to %v", o["spec"])
					}
				case "CronJob":
					checkBackup(t, bin, string(made), o)
				case "PodDisruptionBudget", "NetworkPolicy", "PersistentVolumeClaim":
				default:
					t.Errorf("the chart has a %v", o["kind"])
				}
			}
			if deployed < 6 {
				t.Errorf("%d services are deployed", deployed)
			}
		})
	}
}

// checkDeployment holds a deployment to the programs, the image and the keys.
func checkDeployment(t *testing.T, bin, keys string, o object) {
	t.Helper()
	pod := at(o, "spec", "template", "spec")
	container := at(pod, "containers", 0)
	name := at(container, "command", 0).(string)
	help := help(t, filepath.Join(bin, name))
	env := map[string]string{}
	for _, v := range at(container, "env").([]any) {
		key := at(v, "name").(string)
		env[key] = fmt.Sprint(at(v, "value"))
		if strings.HasPrefix(key, "SIGNALBOX_") && !knows(help, "$"+key) {
			t.Errorf("%s has no variable %s", name, key)
		}
	}
	image := at(container, "image").(string)
	_, target, _ := strings.Cut(strings.TrimPrefix(image, "registry.example.com/"), "/")
	target, _, _ = strings.Cut(target, ":")
	if !slices.Contains(stages(read(t, "deploy/Dockerfile")), target) {
		t.Errorf("%s: the Dockerfile has no target %s", name, target)
	}
	if port := fmt.Sprint(at(container, "ports", 0, "containerPort")); !strings.HasSuffix(env["SIGNALBOX_HTTP"], ":"+port) {
		t.Errorf("%s serves %s, and the port is %s", name, env["SIGNALBOX_HTTP"], port)
	}
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		if path := at(container, probe, "httpGet", "path"); path != "/healthz" && path != "/readyz" || at(container, probe, "httpGet", "port") != "http" {
			t.Errorf("%s: its %s asks for %v", name, probe, path)
		}
	}
	if port := fmt.Sprint(at(container, "ports", 1, "containerPort")); (name == "console") != strings.HasSuffix(env["SIGNALBOX_LISTEN"], ":"+port) {
		t.Errorf("%s listens at %q, and the port is %s", name, env["SIGNALBOX_LISTEN"], port)
	}
	role := slices.ContainsFunc(roles.All(), func(r roles.Role) bool { return r.Name == name })
	mounted := map[string]string{}
	for _, v := range at(container, "volumeMounts").([]any) {
		mounted[at(v, "name").(string)] = at(v, "mountPath").(string)
	}
	for _, v := range at(pod, "volumes").([]any) {
		volume := at(v, "name").(string)
		if mounted[volume] == "" {
			t.Errorf("%s: nothing mounts %s", name, volume)
		}
		delete(mounted, volume)
		switch file := at(v, "secret", "items", 0, "key"); volume {
		case "key":
			want := map[bool]string{true: name, false: "agent-" + name}[name == "orchestrator" || name == "gateway" || name == "plan-manager" || name == "console"]
			if file != want+".nk" {
				t.Errorf("%s has the key %v", name, file)
			}
			if _, err := os.Stat(filepath.Join(keys, want+".nk")); err != nil {
				t.Errorf("signalbox auth init makes no such key: %v", err)
			}
			if all := at(v, "secret", "items").([]any); (len(all) == 2) != (name == "orchestrator") || len(all) == 2 && at(all[1], "key") != "attest.key" {
				t.Errorf("%s has the keys %v: attest.key is for the orchestrator alone", name, all)
			}
		case "github":
			if name != "console" || file != "client-secret" {
				t.Errorf("%s has the secret %v of signing in", name, file)
			}
		case "forge":
			if name == "console" {
				t.Error("the console has the forge's token")
			}
			if role {
				t.Errorf("%s runs the code of repositories, and has the forge's token", name)
			}
		}
	}
	if len(mounted) > 0 {
		t.Errorf("%s mounts %v, which are no volumes", name, mounted)
	}
	if at(pod, "securityContext", "runAsNonRoot") != true || at(pod, "automountServiceAccountToken") != false ||
		at(container, "securityContext", "allowPrivilegeEscalation") != false || at(container, "securityContext", "capabilities", "drop", 0) != "ALL" ||
		at(container, "securityContext", "readOnlyRootFilesystem") != !role || at(container, "resources", "limits", "memory") == nil {
		t.Errorf("%s may do more than it needs: %v, %v", name, at(pod, "securityContext"), at(container, "securityContext"))
	}
	boxed := at(pod, "securityContext", "seccompProfile", "type") == "Localhost"
	if unmasked := at(container, "securityContext", "procMount") == "Unmasked"; unmasked != boxed || boxed && (at(pod, "hostUsers") != false || !role) ||
		role && boxed != (env["SIGNALBOX_SANDBOX"] == "bwrap") {
		t.Errorf("%s: seccomp of ours %t, /proc unmasked %t, sandbox %s", name, boxed, unmasked, env["SIGNALBOX_SANDBOX"])
	}
}

// checkBackup holds the job of the backup to the program, the image and the keys.
func checkBackup(t *testing.T, bin, keys string, o object) {
	t.Helper()
	pod := at(o, "spec", "jobTemplate", "spec", "template", "spec")
	container := at(pod, "containers", 0)
	var command, names []string
	for _, word := range at(container, "command").([]any) {
		command = append(command, fmt.Sprint(word))
	}
	help := help(t, filepath.Join(bin, command[0]), command[1])
	for _, v := range at(container, "env").([]any) {
		names = append(names, "$"+at(v, "name").(string))
	}
	for _, name := range append(names, command[2:]...) {
		if strings.TrimLeft(name, "-$") != name && !knows(help, name) {
			t.Errorf("signalbox %s has no %s", command[1], name)
		}
	}
	if _, err := os.Stat(filepath.Join(keys, at(pod, "volumes", 0, "secret", "items", 0, "key").(string))); err != nil {
		t.Errorf("signalbox auth init makes no such key: %v", err)
	}
	if at(o, "spec", "concurrencyPolicy") != "Forbid" || at(pod, "securityContext", "runAsNonRoot") != true || at(pod, "automountServiceAccountToken") != false ||
		at(container, "securityContext", "allowPrivilegeEscalation") != false || at(container, "securityContext", "capabilities", "drop", 0) != "ALL" ||
		at(container, "securityContext", "readOnlyRootFilesystem") != true || at(container, "resources", "limits", "memory") == nil {
		t.Errorf("the backup may do more than it needs: %v, %v", at(pod, "securityContext"), at(container, "securityContext"))
	}
}

func TestPodsReachNATSAndAgentsNothingElse(t *testing.T) {
	for file, want := range map[string]int{"small": 0, "default": 3, "prometheus": 3, "all": 5} {
		policies := 0
		for _, o := range rendered(t, chart+"/ci/"+file+"-values.yaml") {
			if o["kind"] != "NetworkPolicy" {
				continue
			}
			policies++
			labels, _ := at(o, "spec", "podSelector", "matchLabels").(object)
			rules, _ := at(o, "spec", "egress").([]any)
			for _, rule := range rules {
				for _, peer := range at(rule, "to").([]any) {
					if at(peer, "ipBlock") != nil && labels["signalbox/forge"] == nil && labels["signalbox/role"] == nil && labels["app.kubernetes.io/component"] != "console" {
						t.Errorf("%s: all pods reach %v", file, peer)
					}
				}
			}
		}
		if policies != want {
			t.Errorf("%s has %d network policies, want %d", file, policies, want)
		}
	}
}
