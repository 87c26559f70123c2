package rest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// object is a JSON object of an answer. It has every field that GitHub requires, null if
// the forge has no value for it.
type object map[string]any

// text is a body that is not JSON.
type text struct {
	kind string // media type
	body []byte
}

const documentation = "https://docs.github.com/rest"

// failure is a refusal with GitHub's status and text.
type failure struct {
	status        int
	message       string
	errors        []any
	documentation string // its link; "" for that of REST, "-" for none
}

func (e *failure) Error() string { return fmt.Sprintf("%d %s", e.status, e.message) }

// invalid refuses a field. The code is missing, missing_field, invalid or already_exists.
func invalid(resource, field, code string) *failure {
	return &failure{status: http.StatusUnprocessableEntity, message: "Validation Failed",
		errors: []any{object{"resource": resource, "field": field, "code": code}}}
}

// refused refuses with a message.
func refused(resource, message string) *failure {
	return &failure{status: http.StatusUnprocessableEntity, message: "Validation Failed",
		errors: []any{object{"resource": resource, "code": "custom", "message": message}}}
}

// limit refuses a text that is too long.
func limit(resource, field, value string, most int) error {
	if len([]rune(value)) <= most {
		return nil
	}
	return &failure{status: http.StatusUnprocessableEntity, message: "Validation Failed", errors: []any{object{
		"resource": resource, "field": field, "code": "custom",
		"message": fmt.Sprintf("%s is too long (maximum is %d characters)", field, most),
	}}}
}

// answer writes the result of a handler.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, status int, body any, err error) {
	if err != nil {
		err = s.follow(w, r, err)
		status, body = s.explain(r, err)
	}
	w.Header().Set("X-GitHub-Media-Type", "github.v3; format=json")
	if body == nil {
		w.WriteHeader(status)
		return
	}
	content, ok := body.(text)
	if !ok {
		content = text{kind: "application/json; charset=utf-8", body: encode(body)}
	}
	w.Header().Set("Content-Type", content.kind)
	if r.Method == http.MethodGet && status == http.StatusOK {
		tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(content.body))
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "private, max-age=60, s-maxage=60")
		w.Header().Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, X-Requested-With")
		if matches(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(content.body) // a client that has gone needs no answer
}

// explain returns the answer to a request that failed with err.
func (s *Server) explain(r *http.Request, err error) (int, any) {
	refusal := refusalOf(err)
	if refusal == nil {
		s.forge.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		refusal = &failure{status: http.StatusInternalServerError, message: "Server Error"}
	}
	body := object{"message": refusal.message, "documentation_url": cmp.Or(refusal.documentation, documentation), "status": fmt.Sprint(refusal.status)}
	if refusal.documentation == "-" {
		delete(body, "documentation_url")
	}
	if refusal.errors != nil {
		body["errors"] = refusal.errors
	}
	return refusal.status, body
}

// refusalOf returns what err means to the client, nil if the forge is at fault.
func refusalOf(err error) *failure {
	var refusal *failure
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.Is(err, host.ErrNotFound), errors.Is(err, bare.ErrNoCommit):
		return &failure{status: http.StatusNotFound, message: "Not Found"}
	case errors.Is(err, host.ErrForbidden):
		return &failure{status: http.StatusForbidden, message: "Resource not accessible by personal access token"}
	case errors.Is(err, host.ErrArchived):
		return &failure{status: http.StatusForbidden, message: "Repository was archived so is read-only."}
	case errors.Is(err, host.ErrTaken):
		return &failure{status: http.StatusUnprocessableEntity, message: "Repository update failed.",
			errors: []any{object{"resource": "Repository", "field": "name", "code": "custom", "message": "name already exists on this account"}}}
	case errors.Is(err, host.ErrSignIn):
		return &failure{status: http.StatusUnauthorized, message: "Requires authentication"}
	case errors.Is(err, store.ErrCredentials):
		return &failure{status: http.StatusUnauthorized, message: "Bad credentials"}
	}
	return nil
}

func encode(body any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		panic(err) // only a type that JSON cannot hold: a mistake in this package
	}
	return bytes.TrimSpace(out.Bytes())
}

func matches(ifNoneMatch, tag string) bool {
	for candidate := range strings.SplitSeq(ifNoneMatch, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == "*" || candidate == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// maxBody is how many bytes the body of a request may have.
const maxBody = 1 << 20

// decode reads the request's JSON.
func (c *call) decode(into any) error {
	body, err := c.read()
	if err != nil {
		return err
	}
	return parse(body, into)
}

// read reads the request's body.
func (c *call) read() ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, c.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &failure{status: http.StatusRequestEntityTooLarge, message: "Request body is too large"}
	}
	if err != nil {
		return nil, &failure{status: http.StatusBadRequest, message: "Problems reading the body"}
	}
	return body, nil
}

// parse reads JSON. It leaves into as it is if there is none.
func parse(body []byte, into any) error {
	if len(body) == 0 {
		return nil
	}
	err := json.Unmarshal(body, into)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		return &failure{status: http.StatusUnprocessableEntity, message: fmt.Sprintf(
			"Invalid request.\n\nFor %q, %s is not a %s.", strings.ToLower(wrongType.Field), wrongType.Value, wrongType.Type)}
	case err != nil:
		return &failure{status: http.StatusBadRequest, message: "Problems parsing JSON"}
	}
	return nil
}
