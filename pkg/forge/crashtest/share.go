package crashtest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
)

// stages is how many there are at a time: most of the time of each is spent in
// git and on disk.
const stages = 2

// part is a scene with something going wrong.
type part struct {
	Scene
	calls []Call
	at    Point
}

// Play has the service play each scene once for each of its calls, with that
// call going wrong, on a few stages at a time. Calls that fail without an effect,
// and those that are another's likeness, go wrong only if SIGNALBOX_CRASH is set:
// each costs a second, and `make crash` has the time.
func Play(t *testing.T, of Service, scenes ...Scene) {
	t.Helper()
	t.Parallel()
	first := NewStage(t, of)
	parts := rehearse(t, first, scenes, func(sc Scene, calls []Call) []Point {
		if os.Getenv("SIGNALBOX_CRASH") != "" {
			return Points(calls, true, !sc.Looks)
		}
		return slices.DeleteFunc(Points(calls, false, false), func(p Point) bool { return p.Fault == Cut })
	})
	share(t, first, parts, Scene.once)
}

// Find plays a scene as Play and Sleep do, on one stage, and returns what is wrong.
func Find(t *testing.T, of Service, sc Scene) (wrong []error) {
	t.Helper()
	s := NewStage(t, of)
	all := func(sc Scene, calls []Call) []Point { return append(Points(calls, false, true), held(sc, calls)...) }
	for _, p := range rehearse(t, s, []Scene{sc}, all) {
		play := sc.once
		if p.at.Fault == Held {
			play = sc.asleep
		}
		if err := play(s, p.at); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", p.at.About(p.calls), err))
		}
	}
	return wrong
}

func rehearse(t *testing.T, on *Stage, scenes []Scene, points func(Scene, []Call) []Point) (all []part) {
	t.Helper()
	for _, sc := range scenes {
		calls, err := sc.rehearse(on)
		if err != nil {
			t.Fatalf("%s, with nothing going wrong: %v", sc.Name, err)
		}
		t.Logf("%s", sc.Name)
		for n, c := range calls {
			t.Logf("%3d %s", n+1, c.Name)
		}
		for _, at := range points(sc, calls) {
			all = append(all, part{sc, calls, at})
		}
	}
	return all
}

// share plays the parts on a few stages, the first of which is there, and reports
// each that fails.
func share(t *testing.T, first *Stage, parts []part, play func(Scene, *Stage, Point) error) {
	t.Helper()
	queue := make(chan part, len(parts))
	for _, p := range parts {
		queue <- p
	}
	close(queue)
	for n := range min(stages, len(parts)) {
		t.Run(fmt.Sprintf("on stage %d", n+1), func(t *testing.T) {
			t.Parallel()
			s := first.in(t)
			if n > 0 {
				s = NewStage(t, first.Service)
			}
			for p := range queue {
				if err := s.within(func() error { return play(p.Scene, s, p.at) }); err != nil {
					t.Errorf("%s, %s: %v", p.Name, p.at.About(p.calls), err)
				}
			}
		})
	}
}

// within gives a part its time.
func (s *Stage) within(play func() error) error {
	all := s.Ctx
	defer func() { s.Ctx = all }()
	var done context.CancelFunc
	s.Ctx, done = context.WithTimeout(all, patience)
	defer done()
	return play()
}

// in is the same stage in a part of its test.
func (s *Stage) in(t testing.TB) *Stage {
	other := *s
	other.TB = t
	return &other
}
