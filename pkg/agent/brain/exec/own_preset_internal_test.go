package exec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileThatExtendsAShippedPresetLeavesThatAsItIs(t *testing.T) {
	text := func(name string) string {
		t.Helper()
		ps, err := ReadPresets("")
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ps.all["mine"]; ok {
			t.Error("a preset of a directory is among the shipped ones")
		}
		one := ps.all[name]
		text, err := json.Marshal([]any{one.Set, one.Exits, one.MCP})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, name := range (Presets{}).Names() {
		was := text(name)
		dir := t.TempDir()
		mine := "preset: mine\nextends: " + name + "\nset: {MINE: one}\nexits: {77: wait}\nmcp: {under: mine, entry: {mine: one}, set: {MINE: one}}\n"
		if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(mine), 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := ReadPresets(dir)
		if err != nil || read.all["mine"].Set["MINE"] != "one" || read.all["mine"].MCP.Under != "mine" {
			t.Fatalf("%s: %+v, %v", name, read.all["mine"], err)
		}
		if now := text(name); now != was {
			t.Errorf("%s was %s, and is %s", name, was, now)
		}
	}
}
