package confine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Below returns the ids of all descendants of a process.
func Below(pid int) []int {
	var all []int
	level := children(pid)
	for len(level) > 0 {
		all = append(all, level...)
		var next []int
		for _, child := range level {
			next = append(next, children(child)...)
		}
		level = next
	}
	return all
}

func children(pid int) []int {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	var all []int
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // it has ended
		}
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// KillBelow kills all descendants of a process. It stops them first, so that none
// makes others meanwhile.
func KillBelow(pid int) {
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, child := range Below(pid) {
			_ = syscall.Kill(child, sig)
		}
	}
}

// Memory returns the bytes of private memory that a process holds.
func Memory(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(fields[1], 10, 64)
	shared, _ := strconv.ParseInt(fields[2], 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
