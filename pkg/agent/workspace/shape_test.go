package workspace_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/workspace"
)

func TestTheShapeOfAChangeNamesWhatAReaderStopsAt(t *testing.T) {
	w := newEnv(t)
	for i := range 20 {
		write(t, w.source, fmt.Sprintf("many/%d.txt", i), "x\n")
	}
	write(t, w.source, ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\nassets/** filter=lfs\n")
	write(t, w.source, "tool.sh", "true\n")
	w.run(w.git, "add", "-A")
	w.run(w.git, "update-index", "--chmod=+x", "tool.sh")
	w.run(w.git, "commit", "--quiet", "-m", "second")
	var err error
	if w.base, w.bundle, err = w.node.Snapshot(t.Context(), "acme/widgets", workspace.Remote{URL: w.source}, ""); err != nil {
		t.Fatal(err)
	}
	parent := w
	for name, c := range map[string]struct {
		script string
		want   []string
		ask    bool
	}{
		"an ordinary change": {"echo x >> main.go; rm many/1.txt; echo x > new.txt", nil, false},
		"names that differ in case": {"echo x > README.md; echo x > Readme.md; mkdir Many; echo x > Many/y", []string{
			"Many and many differ in case alone, which macOS and Windows cannot check out", "README.md and Readme.md differ in case alone, which macOS and Windows cannot check out"}, false},
		"some files deleted": {"rm many/1*", []string{"it deletes 11 of 25 files"}, false},
		"most files deleted": {"rm -r many", []string{"it deletes 20 of 25 files"}, true},
		"modes":              {"chmod -x tool.sh; chmod +x main.go", []string{"main.go became executable", "tool.sh is no longer executable"}, false},
		"line ends":          {`sed -i 's/$/\r/' main.go "doc/a b.txt"; echo x >> "doc/a b.txt"`, []string{"main.go changes in its line ends alone"}, false},
		"raw content of Git LFS": {"head -c 300000 /dev/zero > model2.bin; mkdir assets; echo x > assets/a; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:00\\nsize 1\\n' > fine.bin", []string{
			"assets/a belongs into Git LFS, and is in the commit itself: add it with git lfs", "model2.bin belongs into Git LFS, and is in the commit itself: add it with git lfs"}, false},
		"marks of a conflict": {"printf '<<<<<<< a\\nx\\n=======\\ny\\n>>>>>>> b\\n' > main.go", []string{"main.go:1 has the marks of a merge conflict"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := parent.in(t)
			tree := w.tree()
			w.program(tree, c.script)
			w.commit(tree, "Change")
			s, err := tree.Shape(t.Context())
			slices.Sort(s.Findings)
			if err != nil || !slices.Equal(s.Findings, c.want) || s.Ask != c.ask {
				t.Errorf("found %q, ask %t, %v; want %q", s.Findings, s.Ask, err, c.want)
			}
		})
	}
}
