package environment_test

import (
	"os"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

func TestMain(m *testing.M) {
	confine.Intercept()
	path, err := os.Executable()
	if err == nil {
		err = os.Setenv(confine.Variable, path)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
