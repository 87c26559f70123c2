package testrun

import (
	"encoding/xml"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// maxReport limits the bytes of a report that are read.
const maxReport = 64 << 20

// junitCase is a testcase of JUnit's XML. The dialects agree on this much. The counts in the
// attributes of suites do not, and are not read.
type junitCase struct {
	Name      string      `xml:"name,attr"`
	Class     string      `xml:"classname,attr"`
	File      string      `xml:"file,attr"`
	Status    string      `xml:"status,attr"`
	Failures  []junitSaid `xml:"failure"`
	Errors    []junitSaid `xml:"error"`
	Skipped   *junitSaid  `xml:"skipped"`
	SystemOut string      `xml:"system-out"`
}

type junitSaid struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func (s junitSaid) String() string {
	if strings.Contains(s.Text, s.Message) {
		return strings.TrimSpace(s.Text)
	}
	return strings.TrimSpace(s.Message + "\n" + s.Text)
}

// junit reads the test cases of a JUnit report, at any depth, with duplicates. A report
// without a test case counts nothing. A test that failed and then passed in the same run
// (flakyFailure) has passed.
func junit(in io.Reader) (r report, err error) {
	decoder := xml.NewDecoder(in)
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return r.sealed(), nil
		}
		if err != nil {
			return r.sealed(), err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "testcase" {
			continue
		}
		var c junitCase
		if err := decoder.DecodeElement(&c, &start); err != nil {
			return r.sealed(), err
		}
		r.junitCase(c)
	}
}

func (r *report) junitCase(c junitCase) {
	r.counted = true
	name := c.Name
	switch {
	case c.Class != "" && c.Class != "test" && !strings.HasPrefix(name, c.Class):
		name = c.Class + "." + name
	case c.Class == "test" && c.File != "":
		name = c.File + " > " + name
	}
	said := slices.Concat(c.Errors, c.Failures)
	switch {
	case len(said) > 0:
		f := failure{name: name, file: c.File, output: said[0].String()}
		if len(c.Errors) > 0 && (strings.Contains(said[0].Message, "collection failure") || strings.Contains(said[0].Type, "CompilationError")) {
			f.cause = verdict.Compile
		}
		r.failures = append(r.failures, f)
	case c.Skipped != nil, c.Status == "notrun", c.Status == "disabled", c.Status == "skipped":
		r.skipped++
		r.skip(name)
	default:
		r.passed++
		r.pass(name)
	}
}

// reportFiles returns the reports of the plan in a tree, sorted. ** in the pattern stands
// for any number of directories.
func (p Plan) reportFiles(tree fs.FS) (files []string) {
	pattern, anywhere := strings.CutPrefix(p.Report, "**/")
	if !anywhere {
		files, _ = fs.Glob(tree, p.Report) // a bad pattern finds nothing
		return files
	}
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read has no report
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			found, _ := fs.Glob(tree, path.Join(name, pattern))
			files = append(files, found...)
		}
		return nil
	})
	slices.Sort(files)
	return slices.Compact(files)
}

// removeReports removes the reports of an earlier run. It follows no link out of dir.
func (p Plan) removeReports(dir string) error {
	if p.Report == "" {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range p.reportFiles(root.FS()) {
		if err := root.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// reports reads the reports that a run left in dir. A report that is no file of dir, or
// cannot be read whole, is left out: the output of the run then decides.
func (p Plan) reports(dir string) (all report) {
	if p.Report == "" {
		return all
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return all
	}
	defer root.Close()
	for _, name := range p.reportFiles(root.FS()) {
		if !exists(root.FS(), name) {
			continue
		}
		f, err := root.Open(name)
		if err != nil {
			continue
		}
		r, err := junit(io.LimitReader(f, maxReport))
		_ = f.Close()
		if err == nil {
			all = all.add(r)
		}
	}
	return all
}
