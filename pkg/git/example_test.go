package git_test

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/git"
)

func ExampleRunner_Run() {
	branch, err := git.New("").Run(context.Background(), "check-ref-format", "--branch", "main")
	fmt.Println(branch, err)

	_, err = git.New("").Run(context.Background(), "check-ref-format", "refs/heads/a..b")
	fmt.Println(git.ExitCode(err))
	// Output:
	// main <nil>
	// 1
}
