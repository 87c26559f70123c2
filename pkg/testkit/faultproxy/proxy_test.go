package faultproxy

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

const patience = time.Minute

// echo is a server that sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, c net.Conn, text string) {
	t.Helper()
	b := make([]byte, len(text))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != text {
		t.Fatalf("heard %q, %v; want %q", b, err, text)
	}
}

// nothing fails if anything is heard within a while: it can only be too kind.
func nothing(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	b := make([]byte, 1)
	if n, err := c.Read(b); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("heard %q, %v; want nothing", b[:n], err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
}

func TestWhatIsSentArrivesOnceAndInOrder(t *testing.T) {
	for name, fault := range map[string]Fault{
		"without a fault":    {},
		"slow and trembling": {Up: Way{Latency: time.Millisecond, Jitter: 5 * time.Millisecond}, Down: Way{Jitter: 5 * time.Millisecond}},
		"narrow":             {Up: Way{Rate: 8 << 20}},
	} {
		t.Run(name, func(t *testing.T) {
			p := Start(t, echo(t))
			p.Set(fault)
			c := dial(t, p)
			sent := make([]byte, 1<<20)
			_, _ = rand.Read(sent)
			var sending sync.WaitGroup
			sending.Go(func() {
				_, _ = c.Write(sent)
				_ = c.(*net.TCPConn).CloseWrite()
			})
			got, err := io.ReadAll(c)
			sending.Wait()
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%d bytes came back, %v; want the %d that were sent", len(got), err, len(sent))
			}
			if s := p.Stats(); s.Connections != 1 || s.Up != 1<<20 || s.Down != 1<<20 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestLatencyIsAddedEachWay(t *testing.T) {
	p := Start(t, echo(t))
	p.Set(Fault{Up: Way{Latency: 150 * time.Millisecond}, Down: Way{Latency: 150 * time.Millisecond}})
	c := dial(t, p)
	began := time.Now()
	say(t, c, "a")
	hear(t, c, "a")
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("there and back took %s, want at least 300 ms", took)
	}
}

func TestANarrowWayTakesItsTime(t *testing.T) {
	p := Start(t, echo(t))
	p.Set(Fault{Up: Way{Rate: 1 << 20}})
	c := dial(t, p)
	began := time.Now()
	sent := make([]byte, 256<<10)
	if _, err := c.Write(sent); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, sent); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 250*time.Millisecond {
		t.Errorf("256 KiB at 1 MiB/s took %s", took)
	}
}

func TestACutHoldsBackUntilItIsHealed(t *testing.T) {
	for name, fault := range map[string]Fault{"both ways": Cut(), "up": {Up: Way{Cut: true}}, "down": {Down: Way{Cut: true}}} {
		t.Run(name, func(t *testing.T) {
			p := Start(t, echo(t))
			c := dial(t, p)
			say(t, c, "before ")
			hear(t, c, "before ")
			p.Set(fault)
			say(t, c, "meanwhile")
			nothing(t, c)
			p.Heal()
			hear(t, c, "meanwhile")
		})
	}
	t.Run("an end too", func(t *testing.T) {
		p := Start(t, echo(t))
		c := dial(t, p)
		say(t, c, "a")
		hear(t, c, "a")
		p.Set(Cut())
		_ = c.(*net.TCPConn).CloseWrite()
		nothing(t, c)
		p.Heal()
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("after it is healed: %v, want the end", err)
		}
	})
}

func TestAResetEndsBothSidesAndNewOnesAreServed(t *testing.T) {
	p := Start(t, echo(t))
	c := dial(t, p)
	say(t, c, "a")
	hear(t, c, "a")
	if n := p.Reset(); n != 1 {
		t.Errorf("%d were reset, want 1", n)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it goes on: %v", err)
	}
	c = dial(t, p)
	say(t, c, "b")
	hear(t, c, "b")
}

func TestAnAbandonedConnectionSwallowsAndNewOnesAreServed(t *testing.T) {
	p := Start(t, echo(t))
	c := dial(t, p)
	say(t, c, "a")
	hear(t, c, "a")
	if n := p.Abandon(); n != 1 {
		t.Errorf("%d were abandoned, want 1", n)
	}
	say(t, c, "lost")
	nothing(t, c)
	p.Heal()
	nothing(t, c)
	other := dial(t, p)
	say(t, other, "b")
	hear(t, other, "b")
}

// refused fails unless a new connection ends at once.
func refused(t *testing.T, p *Proxy) {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a new connection: %v, want its end", err)
	}
}

func TestAShutProxyRefuses(t *testing.T) {
	p := Start(t, echo(t))
	p.Set(Fault{Shut: true})
	refused(t, p)
	p.Heal()
	c := dial(t, p)
	say(t, c, "a")
	hear(t, c, "a")
}

func TestTheTargetMayMoveAndMayBeAway(t *testing.T) {
	first, second := echo(t), echo(t)
	p := Start(t, first)
	p.Retarget("127.0.0.1:1") // nobody is there
	refused(t, p)
	p.Retarget(second)
	c := dial(t, p)
	say(t, c, "a")
	hear(t, c, "a")
}
