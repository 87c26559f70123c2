package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// metric is a metric as the code makes it, or as the page has it.
type metric struct {
	kind   string   // counter, gauge or histogram
	labels []string // sorted
}

// kinds are the functions of the library that make metrics. Of a description the code that collects
// it says the kind.
var kinds = map[string]string{
	"NewCounter": "counter", "NewCounterVec": "counter", "NewCounterFunc": "counter", "NewGauge": "gauge", "NewGaugeVec": "gauge",
	"NewGaugeFunc": "gauge", "NewHistogram": "histogram", "NewHistogramVec": "histogram", "NewDesc": "",
}

// madeIn returns the metrics that a Go file makes.
func madeIn(t *testing.T, source string) map[string]metric {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	wrapped := strings.Contains(source, `WrapRegistererWith(prometheus.Labels{"role": role}`)
	found := map[string]metric{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		function, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		kind, known := kinds[function.Sel.Name]
		if library, ok := function.X.(*ast.Ident); !known || !ok || library.Name != "prometheus" {
			return true
		}
		name, labels := literals(call)
		if kind == "" { // a counter's name ends in _total, which promtool checks
			kind = "gauge"
			if strings.HasSuffix(name, "_total") {
				kind = "counter"
			}
		}
		if wrapped {
			labels = append(labels, "role")
		}
		slices.Sort(labels)
		found[name] = metric{kind, labels}
		return true
	})
	return found
}

// literals returns the name of the metric that a call makes, and its labels.
func literals(call *ast.CallExpr) (name string, labels []string) {
	text := func(e ast.Expr) string {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			s, _ := strconv.Unquote(l.Value)
			return s
		}
		return ""
	}
	for i, argument := range call.Args {
		if i == 0 {
			name = text(argument)
		}
		list, ok := argument.(*ast.CompositeLit)
		if !ok {
			continue
		}
		for _, e := range list.Elts {
			field, ok := e.(*ast.KeyValueExpr)
			if !ok {
				labels = append(labels, text(e))
				continue
			}
			switch key, _ := field.Key.(*ast.Ident); {
			case key == nil:
			case key.Name == "Name":
				name = text(field.Value)
			case key.Name == "ConstLabels":
				for _, l := range field.Value.(*ast.CompositeLit).Elts {
					labels = append(labels, text(l.(*ast.KeyValueExpr).Key))
				}
			}
		}
	}
	return name, labels
}

// made returns all metrics of the code, by name.
func made(t *testing.T) map[string]metric {
	t.Helper()
	all := map[string]metric{}
	for _, dir := range []string{"pkg", "services"} {
		err := fs.WalkDir(os.DirFS(filepath.Join(root, dir)), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			source, err := os.ReadFile(filepath.Join(root, dir, name))
			if err != nil || !strings.Contains(string(source), `"signalbox_`) {
				return err
			}
			for name, m := range madeIn(t, string(source)) {
				if _, twice := all[name]; twice {
					t.Errorf("two places make the metric %s", name)
				}
				all[name] = m
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// row is a row of the table of metrics: one name or several, the type, the labels, the meaning.
var row = regexp.MustCompile("(?m)^\\| (`signalbox_[^|]*) \\| ([^|]*) \\|([^|]*)\\| (.+) \\|$")

// tabled returns the metrics of the page, by name.
func tabled(text string) map[string]metric {
	all := map[string]metric{}
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		labels := strings.Split(strings.TrimSpace(m[3]), ", ")
		if strings.TrimSpace(m[3]) == "" {
			labels = nil
		}
		slices.Sort(labels)
		for _, name := range strings.Split(m[1], ", ") {
			kind, _, _ := strings.Cut(m[2], ",")
			all[strings.Trim(name, "`")] = metric{kind, labels}
		}
	}
	return all
}

func TestTheTableOfMetricsIsThatOfTheCode(t *testing.T) {
	code, table := made(t), tabled(page(t, "docs/metrics.md"))
	for name, m := range code {
		switch row, ok := table[name]; {
		case !ok:
			t.Errorf("docs/metrics.md does not have the metric %s", name)
		case row.kind != m.kind || !slices.Equal(row.labels, m.labels):
			t.Errorf("%s is a %s by %v, and docs/metrics.md has a %s by %v", name, m.kind, m.labels, row.kind, row.labels)
		}
	}
	for name := range table {
		if _, ok := code[name]; !ok {
			t.Errorf("docs/metrics.md has the metric %s, which nothing makes", name)
		}
	}
}

// unmade returns the names of metrics in a text that the code does not make.
func unmade(text string, code map[string]metric) (names []string) {
	for _, m := range regexp.MustCompile(`\bsignalbox_[a-z_]+\b`).FindAllStringIndex(text, -1) {
		name := text[m[0]:m[1]]
		base := name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if cut, ok := strings.CutSuffix(name, suffix); ok && code[cut].kind == "histogram" {
				base = cut
			}
		}
		if _, ok := code[base]; !ok && !strings.HasPrefix(text[m[1]:], "(") {
			names = append(names, name)
		}
	}
	return names
}

func TestEachMetricThatAPageAnAlertOrAChartNamesIsMade(t *testing.T) {
	code := made(t)
	for name, text := range pages(t) {
		if name == "CHANGELOG.md" || strings.HasPrefix(name, "docs/adr/") { // they keep the names of their time
			continue
		}
		for _, metric := range unmade(text, code) {
			t.Errorf("%s names the metric %s, which nothing makes", name, metric)
		}
	}
	err := fs.WalkDir(os.DirFS(filepath.Join(root, "deploy")), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) == ".go" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, "deploy", name))
		for _, metric := range unmade(string(text), code) {
			t.Errorf("deploy/%s names the metric %s, which nothing makes", name, metric)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// unlabelled returns the labels that an expression selects a metric by and that the code does not give it.
func unlabelled(text string, code map[string]metric) (all []string) {
	for _, m := range regexp.MustCompile(`\b(signalbox_[a-z_]+)\{([^}]*)\}`).FindAllStringSubmatch(text, -1) {
		for _, label := range regexp.MustCompile(`([a-z_]+)(?:=|!)`).FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(code[m[1]].labels, label[1]) {
				all = append(all, m[1]+" by "+label[1])
			}
		}
	}
	for _, m := range regexp.MustCompile(`by \(([a-z_, ]+)\) \(+(?:increase\()?(signalbox_[a-z_]+)`).FindAllStringSubmatch(text, -1) {
		for _, label := range strings.Split(m[1], ", ") {
			if !slices.Contains(code[m[2]].labels, label) {
				all = append(all, m[2]+" by "+label)
			}
		}
	}
	return all
}

func TestAnAlertOrAChartSelectsByLabelsThatAMetricHas(t *testing.T) {
	code := made(t)
	for _, name := range []string{"deploy/prometheus/signalbox.rules.yml", "deploy/helm/templates/scale.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || !strings.Contains(string(text), "signalbox_") {
			t.Fatalf("%s: %v", name, err)
		}
		if no := unlabelled(string(text), code); len(no) > 0 {
			t.Errorf("%s selects %v", name, no)
		}
	}
	code = map[string]metric{"signalbox_a_total": {"counter", []string{"role"}}}
	if no := unlabelled(`sum by (role, rol) (increase(signalbox_a_total{role="x",kind=~"y"}[1m]))`, code); !slices.Equal(no, []string{"signalbox_a_total by kind", "signalbox_a_total by rol"}) {
		t.Errorf("it finds %v", no)
	}
}

// An alert that waits for growth misses the first event of a series that begins with it.
func TestAnAlertSeesTheFirstOfEachCounter(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(root, "deploy/prometheus/signalbox.rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	atStart := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(page(t, "docs/metrics.md"), -1) {
		for _, name := range strings.Split(m[1], ", ") {
			atStart[strings.Trim(name, "`")] = m[2] == "counter, from 0"
		}
	}
	found := regexp.MustCompile(`increase\((signalbox_[a-z_]+)`).FindAllStringSubmatch(string(rules), -1)
	if len(found) < 5 {
		t.Fatalf("there are %d alerts on growth", len(found))
	}
	for _, m := range found {
		if first := regexp.MustCompile(m[1] + `(\{[^}]*\})? unless ` + m[1] + `(\{[^}]*\})? offset 15m`); !atStart[m[1]] && !first.Match(rules) {
			t.Errorf("%s begins with its first event, which its alert misses", m[1])
		}
	}
}

func TestMetricsOfAllFormsAreFound(t *testing.T) {
	got := madeIn(t, `package a
var a = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_a_total", Help: "h"}, []string{"y", "x"})
var b = prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_b", ConstLabels: prometheus.Labels{"v": v}}, f)
var c = prometheus.NewDesc("signalbox_c", "help", []string{"z"}, nil)
var d = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "signalbox_d_seconds"})`)
	for name, want := range map[string]metric{"signalbox_a_total": {"counter", []string{"x", "y"}}, "signalbox_b": {"gauge", []string{"v"}},
		"signalbox_c": {"gauge", []string{"z"}}, "signalbox_d_seconds": {"histogram", nil}} {
		if m := got[name]; m.kind != want.kind || !slices.Equal(m.labels, want.labels) {
			t.Errorf("%s: %v, want %v", name, m, want)
		}
	}
	if no := unmade("signalbox_a_total, signalbox_d_seconds_bucket and signalbox_b_count", got); !slices.Equal(no, []string{"signalbox_b_count"}) {
		t.Errorf("unmade are %v", no)
	}
}
