package deploy_test

import (
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const rules = "deploy/prometheus/signalbox.rules.yml"

// alerts has the part of the format of Prometheus that the rules use.
type alerts struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []struct {
			Alert       string            `yaml:"alert"`
			Expr        string            `yaml:"expr"`
			For         string            `yaml:"for"`
			Labels      map[string]string `yaml:"labels"`
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"rules"`
	} `yaml:"groups"`
}

func TestEachAlertIsOfMetricsThatAreDocumentedAndIsTried(t *testing.T) {
	var a alerts
	if err := yaml.UnmarshalWithOptions([]byte(read(t, rules)), &a, yaml.Strict()); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	documented, tried := read(t, "docs/metrics.md"), read(t, "deploy/prometheus/signalbox.rules.test.yml")
	used := map[string]bool{}
	for _, group := range a.Groups {
		for _, rule := range group.Rules {
			for _, metric := range regexp.MustCompile(`signalbox_[a-z_]+`).FindAllString(rule.Expr, -1) {
				used[metric] = true
				if !strings.Contains(documented, "`"+metric+"`") {
					t.Errorf("%s: docs/metrics.md has no metric %s", rule.Alert, metric)
				}
			}
			if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.Labels["severity"] == "" {
				t.Errorf("%s lacks a summary, a description or a severity", rule.Alert)
			}
			if !strings.Contains(tried, "name: "+rule.Alert+" fires, alone\n") {
				t.Errorf("%s: no test has it fire", rule.Alert)
			}
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`signalbox_.*)$").FindAllStringSubmatch(documented, -1) {
		metric := regexp.MustCompile(`signalbox_[a-z_]+`).FindString(row[1])
		if strings.Contains(row[1], "; alert ") && !used[metric] {
			t.Errorf("docs/metrics.md says to alert on %s, and no rule does", metric)
		}
	}
}

func TestEachServiceIsScraped(t *testing.T) {
	var c struct {
		Scrapes []struct {
			DNS []struct {
				Names []string `yaml:"names"`
				Port  int      `yaml:"port"`
			} `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/prometheus/prometheus.yml")), &c); err != nil || len(c.Scrapes) != 1 || len(c.Scrapes[0].DNS) != 1 {
		t.Fatalf("%+v: %v", c, err)
	}
	scraped := c.Scrapes[0].DNS[0]
	for name, s := range load(t).Services {
		if s.Build == nil || s.Command[0] == "signalbox" { // a command, which serves nothing
			continue
		}
		if _, port, err := net.SplitHostPort(s.Environment["SIGNALBOX_HTTP"]); err != nil || port != strconv.Itoa(scraped.Port) {
			t.Errorf("%s serves metrics at %s, and port %d is scraped", name, s.Environment["SIGNALBOX_HTTP"], scraped.Port)
		}
		if !slices.Contains(scraped.Names, name) {
			t.Errorf("prometheus/prometheus.yml: %s is not scraped", name)
		}
	}
}

func TestPromtoolTriesTheAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not here (apt-get install prometheus): the alerts are not tried")
	}
	for _, args := range [][]string{{"test", "rules", "signalbox.rules.test.yml"}, {"check", "config", "prometheus.yml"}} {
		args[2] = filepath.Join(root, "deploy/prometheus", args[2])
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
