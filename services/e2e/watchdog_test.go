package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// watchdog kills the process groups whose numbers it reads, when its input ends: with the test
// process, also where that is killed. A number after a minus sign has ended by itself.
const watchdog = `
groups=
while read -r n; do
	case $n in
	-*) groups=$(printf '%s\n' $groups | grep -vx -- "${n#-}") ;;
	*) groups="$groups $n" ;;
	esac
done
for n in $groups; do kill -9 -"$n"; done 2>/dev/null
`

var watched = sync.OnceValues(func() (io.Writer, error) {
	c := exec.Command("sh", "-c", watchdog)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal to the test's group is not for it
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	return in, c.Start()
})

// watch has a process group killed when the test process ends. Call ended when the group has ended
// before.
func watch(t *testing.T, group int) (ended func()) {
	t.Helper()
	dog, err := watched()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(dog, group)
	return func() { fmt.Fprintln(dog, -group) }
}

const victim = "SIGNALBOX_E2E_VICTIM"

func TestATestThatIsKilledLeavesNoProcessBehind(t *testing.T) {
	if os.Getenv(victim) != "" {
		p := newProcessGroup(t, "").start(t, "sleep", "sleep", "600")
		fmt.Printf("victim %d\n", p.cmd.Process.Pid)
		<-p.done
		return
	}
	test := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	test.Env = append(os.Environ(), victim+"=1")
	out, err := test.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := test.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		if n, ok := strings.CutPrefix(lines.Text(), "victim "); ok {
			pid, _ = strconv.Atoi(n)
		}
	}
	_ = test.Process.Kill()
	_ = test.Wait() // it was killed
	if pid == 0 {
		t.Fatal("the test that is killed started nothing")
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	gone := func(context.Context) bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(state), ") Z ") // nobody waits for it
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc here")
	}
	if !eventually(ctx, gone) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Error("the process lives on")
	}
}
