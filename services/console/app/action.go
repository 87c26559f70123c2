package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/nats-io/nuid"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// maxForm is how many bytes a form may have.
const maxForm = 256 << 10

var (
	errEmpty  = errors.New("the answer is empty")
	errUnfit  = errors.New("nothing was sent") // with the question and the permitted answers
	errReason = errors.New("to cancel it, say why")
	errTo     = errors.New("to override it, choose a state and say why")
	errAmount = errors.New("the budget is not raised") // with the mistake
	errVerb   = errors.New("the form asks for no action")
	errForm   = errors.New("the form is not readable")
	errMoved  = errors.New("it has moved on since you read") // with the state
)

// act carries out a form about an instance. It leads back to the form's page, or shows that
// page again with the refusal and the fields as they were sent.
func (c *Console) act(w http.ResponseWriter, r *http.Request, s *session) {
	id := r.PathValue("id")
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		c.fault(w, r, s, http.StatusBadRequest, sentence(errForm))
		return
	}
	verb := r.PostForm.Get("do")
	if err := subject.CheckInstance(id); err != nil {
		c.fault(w, r, s, http.StatusNotFound, "There is no instance of this name: "+err.Error())
		return
	}
	done, err := c.carryOut(r.Context(), s.who, id, verb, r.PostForm)
	if err == nil {
		c.log.Info("action", "by", s.who.Actor, "action", verb, "instance", id)
		s.say(id, done)
		http.Redirect(w, r, backTo(r.PostForm, id), http.StatusSeeOther)
		return
	}
	c.log.Warn("action refused", "by", s.who.Actor, "action", verb, "instance", id, "error", err)
	no := refusal{Instance: id, Sent: r.PostForm}
	no.Status, no.Why = refusedFor(err)
	if backTo(r.PostForm, id) == "/inbox" {
		c.showInbox(w, r, s, no)
		return
	}
	c.instance(w, r, s, no)
}

// refusedFor returns what a page says of a form that did nothing.
func refusedFor(err error) (status int, why string) {
	switch {
	case errors.Is(err, errEmpty), errors.Is(err, errUnfit), errors.Is(err, errReason), errors.Is(err, errVerb), errors.Is(err, errTo), errors.Is(err, errAmount):
		return http.StatusUnprocessableEntity, sentence(err)
	case errors.Is(err, errMoved):
		return http.StatusConflict, "Nothing was sent: " + err.Error()
	}
	status, why = explained(err)
	return status, "Refused: " + why
}

// carryOut gives the command of a form and says what came of it.
func (c *Console) carryOut(ctx context.Context, who person, id, verb string, form url.Values) (done string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	before, err := c.cache.read(ctx, id)
	if err != nil {
		return "", err
	}
	if at := form.Get("state"); at != "" && (at != before.State || form.Get("moves") != fmt.Sprint(before.Iteration)) {
		return "", fmt.Errorf("%w: it is in %s now, and was in %s", errMoved, before.State, at)
	}
	reason := cmp.Or(strings.TrimSpace(form.Get("reason")), "from the console")
	var reply *pb.CommandReply
	as := c.as(who)
	switch verb {
	case "answer":
		reply, err = answer(ctx, as, before, form)
	case "approve":
		data := map[string]string{}
		if text := strings.TrimSpace(form.Get("text")); text != "" {
			data["body"] = text
		}
		reply, err = as.Signal(ctx, id, "approved", nuid.Next(), who.Actor, data)
	case "pause":
		reply, err = as.Pause(ctx, id, reason)
	case "resume":
		reply, err = as.Resume(ctx, id, reason)
	case "retry":
		reply, err = as.Retry(ctx, id, reason)
	case "cancel":
		if strings.TrimSpace(form.Get("reason")) == "" {
			return "", errReason
		}
		reply, err = as.Cancel(ctx, id, reason)
	case "override":
		to := form.Get("to")
		if to == "" || strings.TrimSpace(form.Get("reason")) == "" {
			return "", errTo
		}
		reply, err = as.Override(ctx, id, to, reason)
	case "budget":
		raise, wrong := instance.ParseRaise(strings.TrimSpace(form.Get("amount")))
		if wrong != nil {
			return "", fmt.Errorf("%w: %w", errAmount, wrong)
		}
		reply, err = as.Do(ctx, subject.Budget, &pb.Command{Instance: id,
			Action: &pb.Command_Budget{Budget: &pb.RaiseBudget{Usd: raise.USD, Tokens: uint64(raise.Tokens)}}})
	default:
		return "", errVerb
	}
	if err != nil {
		return "", err
	}
	after := view.Of(reply.GetInstance())
	c.cache.put(after)
	c.hub.notify(id)
	return outcome(verb, before, after), nil
}

// eventAt leads to an event by its sequence.
func (c *Console) eventAt(w http.ResponseWriter, r *http.Request, s *session) {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil || seq == 0 || seq > c.cache.newest("") {
		c.fault(w, r, s, http.StatusNotFound, "There is no event of this number.")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	id := ""
	err = c.client.Watch(ctx, "", seq-1, func(e client.LogEntry) error {
		id, seq = e.Instance, e.Commit.Seq
		return client.ErrStopWatch
	})
	if err != nil || id == "" {
		c.unanswered(w, r, s, errors.Join(err, client.ErrUnavailable))
		return
	}
	http.Redirect(w, r, fmt.Sprintf("%s?at=%d#e%d", instanceURL(id), seq, seq), http.StatusSeeOther)
}

// outcome describes the result of an action.
func outcome(verb string, before, after view.Instance) string {
	moved := after.State != before.State || after.Iteration != before.Iteration
	switch {
	case verb == "answer" && moved:
		return "answered, now in " + after.State
	case verb == "answer":
		return "the answer is kept; " + after.State + " goes on when all that it waits for is there"
	case verb == "approve" && moved:
		return "approved, now in " + after.State
	case verb == "approve":
		return "the approval is kept; it is still in " + after.State
	}
	return map[string]string{"pause": "paused in ", "resume": "goes on in ", "retry": "its work is given out once more, in ", "cancel": "cancelled in ",
		"override": "moved by override, now in ", "budget": "may cost more, in "}[verb] + after.State
}
