package repoconfig_test

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
)

func ExampleParse() {
	_, err := repoconfig.Parse("config.yaml", []byte("lifecyle: issue\n"))
	fmt.Println(err)
	// Output: config.yaml:1: unknown key "lifecyle"; did you mean "lifecycle"?
}
