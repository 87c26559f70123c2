package confine

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	abi "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// ABI returns the version of Landlock that the kernel has, 0 for none. From 4 it
// confines TCP, from 6 abstract sockets and signals.
func ABI() int {
	version, err := abi.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// devices are the ones that a command may write to.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
}

// enforce confines all threads of this process, for ever. A kernel that cannot
// confine the file system is an error. Other confinement that it lacks is left out:
// see ABI.
func (r Rules) enforce() error {
	if ABI() < 1 {
		return fmt.Errorf("this kernel has no Landlock")
	}
	rules := []landlock.Rule{landlock.RWFiles(devices()...).IgnoreIfMissing()}
	for _, path := range r.Read {
		rules = append(rules, pathRule(path, landlock.RODirs, landlock.ROFiles))
	}
	for _, path := range r.Write {
		rules = append(rules, pathRule(path, movable, landlock.RWFiles))
	}
	config := landlock.V11.BestEffort()
	if r.Connect == nil {
		// One call for all: each call adds a layer, and a layer without rules for directories
		// refuses to move files between any two of them.
		config.HandledAccessNet = 0
	} else {
		rules = append(rules, landlock.BindTCP(0))
		for _, port := range r.Connect {
			rules = append(rules, landlock.ConnectTCP(port))
		}
	}
	if err := config.Restrict(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// pathRule returns the rule for a path by what is there: a directory or a file.
func pathRule(path string, dirs, files func(...string) landlock.FSRule) landlock.Rule {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return files(path).IgnoreIfMissing()
	}
	return dirs(path).IgnoreIfMissing()
}

// movable are directories to write to, within which files can be moved and linked.
func movable(paths ...string) landlock.FSRule { return landlock.RWDirs(paths...).WithRefer() }
