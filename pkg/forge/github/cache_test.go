package github

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCacheKeepsWhatWasUsedLast(t *testing.T) {
	c := newCache(30)
	value := []byte(strings.Repeat("x", 9))
	for _, key := range []string{"a", "b", "c"} {
		c.Set(key, value)
	}
	c.Get("a")
	c.Set("d", value)
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if _, ok := c.Get(key); ok != want {
			t.Errorf("%s is there: %t, want %t", key, ok, want)
		}
	}
	c.Delete("a")
	if _, ok := c.Get("a"); !ok {
		t.Error("a failed request has dropped what is confirmed before each use")
	}
	c.Set("huge", make([]byte, 31))
	if _, ok := c.Get("huge"); ok {
		t.Error("what is larger than the cache was kept")
	}
}

// TestCacheNeverHoldsMoreThanItsRoom counts what is in it after any sequence of
// calls.
func TestCacheNeverHoldsMoreThanItsRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const room = 100
		c := newCache(room)
		key := rapid.SampledFrom([]string{"a", "b", "c", "dd"})
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, v := key.Draw(t, "key"), rapid.SliceOfN(rapid.Byte(), 0, 120).Draw(t, "value")
				c.Set(k, v)
				if got, ok := c.Get(k); ok && string(got) != string(v) {
					t.Fatalf("%s holds %q, want %q", k, got, v)
				}
			},
			"get":    func(t *rapid.T) { c.Get(key.Draw(t, "key")) },
			"delete": func(t *rapid.T) { c.Delete(key.Draw(t, "key")) },
			"": func(t *rapid.T) {
				held := 0
				for e := c.order.Front(); e != nil; e = e.Next() {
					held += e.Value.(cached).size()
				}
				if held > room || held != room-c.room || c.order.Len() != len(c.byKey) {
					t.Fatalf("holds %d bytes of %d, thinks it has room for %d", held, room, c.room)
				}
			},
		})
	})
}
