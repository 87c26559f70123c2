package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
)

const (
	liveEvery  = 500 * time.Millisecond // how often a stream looks for output
	liveWithin = 500 * time.Millisecond // for the answer of an agent
	shownLive  = 24 << 10               // bytes of output that a page has
)

// liveOutput is what an agent prints while it works.
type liveOutput struct {
	Agent   string `json:"agent"`
	Token   uint64 `json:"token"`
	Text    string `json:"text"`
	Cut     bool   `json:"cut"` // the beginning is left out
	version uint64
}

// output returns the newest output of the work on an instance; nil: nobody works on it, or the agent does not answer. All who look at
// it share an answer.
func (c *Console) output(ctx context.Context, id string) *liveOutput {
	if !c.cache.claimed(id) {
		return nil
	}
	in, err := c.cache.get(ctx, id)
	if err != nil || !in.Working(c.now()) {
		return nil
	}
	claim := *in.Claim
	out, err := c.lives.of(fmt.Sprintf("%s/%d/%s", claim.Role, claim.Token, id)).get(ctx, func(ctx context.Context) (client.Output, error) {
		ctx, cancel := context.WithTimeout(ctx, liveWithin)
		defer cancel()
		return c.client.Live(ctx, claim.Role, claim.Token, id, 0)
	})
	if err != nil {
		return nil
	}
	o := &liveOutput{Agent: claim.Agent, Token: claim.Token, Text: out.Text, Cut: out.Lost > 0, version: out.Version}
	if over := len(o.Text) - shownLive; over > 0 {
		_, o.Text, _ = strings.Cut(o.Text[over:], "\n")
		o.Cut = true
	}
	return o
}

// claimed reports whether an agent has the work of an instance.
func (c *cache) claimed(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	have := c.rows[id]
	return have != nil && have.Agent != "" && have.Closed == ""
}

// event returns the output as an event of a stream, if it is newer than the one before.
func (o *liveOutput) event(before *liveOutput) string {
	if o == nil || before != nil && before.version == o.version && before.Token == o.Token {
		return ""
	}
	data, err := json.Marshal(o)
	if err != nil {
		return "" // it has texts and numbers
	}
	return fmt.Sprintf("event: live\ndata: %s\n\n", data)
}
