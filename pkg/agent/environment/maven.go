package environment

import (
	_ "embed"
	"encoding/xml"
	"io/fs"
	"path"
	"strings"
)

//go:embed maven.sh
var fetchMaven string

// pom has the modules of a pom.xml.
type pom struct {
	Modules  []string `xml:"modules>module"`
	Profiles []string `xml:"profiles>profile>modules>module"`
}

// maven finds a project of Maven and its modules. The fetch runs a plugin of the registry, and
// no phase of a build, so nothing that the pom.xml binds to one.
func maven(tree fs.FS) (Recipe, bool) {
	r := Recipe{Tool: "maven", Source: "pom.xml", Files: map[string]string{"fetch.sh": fetchMaven}, Fetch: []string{"sh", "fetch.sh"}}
	return r, r.addPom(tree, "pom.xml")
}

// addPom adds a pom.xml and those of its modules. It reports whether there is one.
func (r Recipe) addPom(tree fs.FS, name string) bool {
	if _, done := r.Files[name]; done || !fs.ValidPath(name) || !exists(tree, name) {
		return false
	}
	content := read(tree, name)
	r.Files[name] = content
	var p pom
	if xml.Unmarshal([]byte(content), &p) != nil {
		return true // Maven reports the error
	}
	for _, module := range append(p.Modules, p.Profiles...) {
		module = path.Join(path.Dir(name), strings.TrimSpace(module))
		if !strings.HasSuffix(module, ".xml") {
			module += "/pom.xml"
		}
		r.addPom(tree, module)
	}
	return true
}
