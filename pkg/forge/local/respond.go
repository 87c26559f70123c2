package local

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// object is a JSON object of an answer. Every field GitHub requires is in it,
// null where there is nothing to say.
type object map[string]any

// text is an answer that is not JSON.
type text struct {
	kind string // media type
	body []byte
}

const documentation = "https://docs.github.com/rest"

// failure is a refusal with GitHub's status and words.
type failure struct {
	status  int
	message string
	errors  []any
}

func (e *failure) Error() string { return fmt.Sprintf("%d %s", e.status, e.message) }

var (
	errNotFound  = &failure{status: http.StatusNotFound, message: "Not Found"}
	errForbidden = &failure{status: http.StatusForbidden, message: "Resource not accessible by personal access token"}
	errSignIn    = &failure{status: http.StatusUnauthorized, message: "Requires authentication"}
)

// invalid refuses a field; code is missing, missing_field, invalid or already_exists.
func invalid(resource, field, code string) *failure {
	return &failure{http.StatusUnprocessableEntity, "Validation Failed",
		[]any{object{"resource": resource, "field": field, "code": code}}}
}

// refused refuses for a reason in words.
func refused(resource, message string) *failure {
	return &failure{http.StatusUnprocessableEntity, "Validation Failed",
		[]any{object{"resource": resource, "code": "custom", "message": message}}}
}

// limit refuses a text that is too long.
func limit(resource, field, value string, most int) error {
	if len([]rune(value)) <= most {
		return nil
	}
	return &failure{http.StatusUnprocessableEntity, "Validation Failed", []any{object{
		"resource": resource, "field": field, "code": "custom",
		"message": fmt.Sprintf("%s is too long (maximum is %d characters)", field, most),
	}}}
}

// answer writes the result of a handler.
func (f *Forge) answer(w http.ResponseWriter, r *http.Request, status int, body any, err error) {
	if err != nil {
		status, body = f.explain(r, err)
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
	_, _ = w.Write(content.body) // the client has gone: there is nobody to tell
}

// explain is the answer to a request that failed.
func (f *Forge) explain(r *http.Request, err error) (int, any) {
	var refusal *failure
	if !errors.As(err, &refusal) {
		f.config.Logger.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		refusal = &failure{status: http.StatusInternalServerError, message: "Server Error"}
	}
	body := object{"message": refusal.message, "documentation_url": documentation, "status": fmt.Sprint(refusal.status)}
	if refusal.errors != nil {
		body["errors"] = refusal.errors
	}
	return refusal.status, body
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

// maxBody is how many bytes the body of a REST request may have.
const maxBody = 1 << 20

// decode reads the request's JSON.
func (c *call) decode(into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(nil, c.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &failure{status: http.StatusRequestEntityTooLarge, message: "Request body is too large"}
	}
	if err != nil {
		return &failure{status: http.StatusBadRequest, message: "Problems reading the body"}
	}
	if len(body) == 0 {
		return nil
	}
	err = json.Unmarshal(body, into)
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
