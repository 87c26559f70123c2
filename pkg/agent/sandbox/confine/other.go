//go:build !linux

package confine

import "errors"

func (Spec) run([]string) int { return failed(errors.New("only Linux can confine a command")) }

func closeOnExec() {}

// ABI returns 0: there is no Landlock.
func ABI() int { return 0 }

// Below returns nothing: the descendants are not known.
func Below(int) []int { return nil }

// KillBelow does nothing.
func KillBelow(int) {}

// Memory returns 0.
func Memory(int) int64 { return 0 }

// MemoryAtMost returns 0.
func MemoryAtMost(int) int64 { return 0 }

// Unlinked returns nothing: the open files are not known.
func Unlinked([]int, []string) (memory, disk int64) { return 0, 0 }

// SharedMemory returns 0.
func SharedMemory(int) int64 { return 0 }
