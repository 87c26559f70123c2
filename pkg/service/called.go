package service

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ImageName is the name by which an image calls its program: the service is then the first
// argument, or the variable SIGNALBOX_ROLE.
const ImageName = "signalbox-service"

// Called returns the service of all that a process with the arguments argv, program name
// first, was called for, and its own arguments. The name of the program counts before the first
// argument, and that before env, which counts only if the program is called ImageName.
func Called(argv []string, env string, all []Main) (m Main, ok bool) {
	find := func(name string, args []string) (Main, bool) {
		i := slices.IndexFunc(all, func(m Main) bool { return m.Name == name })
		if i < 0 {
			return Main{}, false
		}
		m := all[i]
		m.Args = append([]string{}, args...)
		return m, true
	}
	program, args := ImageName, argv
	if len(argv) > 0 {
		program, args = filepath.Base(argv[0]), argv[1:]
	}
	if m, ok := find(program, args); ok {
		return m, true
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return find(args[0], args[1:])
	}
	if program != ImageName {
		return Main{}, false
	}
	if m, ok := find(env, args); ok {
		return m, true
	}
	if env == "" && slices.Equal(args, []string{"--healthcheck"}) {
		return Main{Name: ImageName, About: "Asks the service of this container whether it is ready.", Program: &health{}, Args: args}, true
	}
	return Main{}, false
}

// Multicall runs the service of all that the process was called for until it ends, and returns
// the exit code: 2 if there is no such service.
func Multicall(ctx context.Context, all []Main) int {
	m, ok := Called(os.Args, os.Getenv("SIGNALBOX_ROLE"), all)
	if !ok {
		var names []string
		for _, m := range all {
			names = append(names, m.Name)
		}
		fmt.Fprintf(os.Stderr, "%s: name the service to run first: %s\n", filepath.Base(os.Args[0]), strings.Join(names, ", "))
		return ExitUsage
	}
	return Run(ctx, m)
}

// health is a program that only asks another process: its address is that of SIGNALBOX_HTTP,
// whichever service the container runs.
type health struct{ Flags }

func (*health) Setup(context.Context, *Host) error { return Usagef("name the service to run") }
