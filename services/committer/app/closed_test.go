package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
)

func TestAnIssueThatIsClosedIsSaidToBe(t *testing.T) {
	w := newEnv(t)
	job := w.approved()
	for _, closed := range []bool{false, true} {
		if closed {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, w.forge.URL+"/api/v3/repos/"+widgets+"/issues/1",
				strings.NewReader(`{"state": "closed"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+forgetest.Token("ann"))
			reply, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := reply.Body.Close(); err != nil || reply.StatusCode != http.StatusOK {
				t.Fatal(reply.Status, err)
			}
		}
		result, err := w.Work(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		var s pipeline.Commit
		if err := json.Unmarshal([]byte(result.Sections["commit"]), &s); err != nil || s.IssueClosed != closed {
			t.Errorf("the issue is closed: %v, %v, want %v", s.IssueClosed, err, closed)
		}
		w.restart()
	}
}
