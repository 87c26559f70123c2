package testrun_test

import (
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
)

// FuzzConfiguration holds that a repository's own file is read or refused.
func FuzzConfiguration(f *testing.F) {
	f.Add([]byte("test: {command: \"npm test\", timeout: 15m}\nlint: {command: x}\n"))
	f.Add([]byte("test: &a {command: *a}\n"))
	f.Add([]byte("[[[[[[[["))
	f.Fuzz(func(_ *testing.T, src []byte) {
		tree := fstest.MapFS{testrun.ConfigFile: {Data: src}, "package.json": {Data: src}}
		_, _ = testrun.Detect(tree)
		_, _, _ = testrun.DetectCheck(tree, testrun.Lint)
	})
}
