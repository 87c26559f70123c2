//go:build !linux

package sandbox

import (
	"io/fs"
	"syscall"
)

func ownNamespaces() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func occupied(info fs.FileInfo) int64 { return info.Size() }
