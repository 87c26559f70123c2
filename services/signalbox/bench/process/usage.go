package process

import (
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"
)

// Process measures the process itself.
type Process struct{ host *host }

// None is the type of absent arguments and results.
type None struct{}

// Usage is what a process has used since its start.
type Usage struct {
	CPU time.Duration // user and system
	RSS int64         // peak of the resident memory in bytes
}

// Usage returns the usage.
func (*Process) Usage(_ None, u *Usage) error {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return err
	}
	u.CPU = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	u.RSS = int64(r.Maxrss) << 10
	return nil
}

// Heap returns the bytes on the heap after a garbage collection.
func (*Process) Heap(_ None, bytes *uint64) error {
	runtime.GC() // the second one frees what finalizers and pools held
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	*bytes = m.HeapAlloc
	return nil
}

// Profile writes a CPU profile to a file until Profiled or the end of the process.
func (p *Process) Profile(file string, _ *None) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		_ = f.Close()
		return err
	}
	p.host.atEnd(func() error { pprof.StopCPUProfile(); return f.Close() })
	return nil
}

// Profiled ends the profile.
func (*Process) Profiled(None, *None) error {
	pprof.StopCPUProfile()
	return nil
}
