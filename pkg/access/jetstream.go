package access

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// JetStream returns JetStream over a connection, as the connection's account reaches it:
// an account but System imports its part under APIPrefix.
func JetStream(ctx context.Context, nc *nats.Conn) (jetstream.JetStream, error) {
	account, err := accountOf(ctx, nc)
	if err != nil {
		return nil, err
	}
	if _, err := ParseParty(account); err != nil { // System, or no account of ours
		return jetstream.New(nc)
	}
	return jetstream.NewWithAPIPrefix(nc, APIPrefix)
}

// accountOf asks the server for the account of a connection. It is "$G" on a server
// without accounts.
func accountOf(ctx context.Context, nc *nats.Conn) (string, error) {
	reply, err := nc.RequestWithContext(ctx, "$SYS.REQ.USER.INFO", nil)
	if err != nil {
		return "", fmt.Errorf("ask NATS for the account of this connection: %w", err)
	}
	var info struct {
		Data struct {
			Account string `json:"account"`
		} `json:"data"`
	}
	if err := json.Unmarshal(reply.Data, &info); err != nil {
		return "", fmt.Errorf("ask NATS for the account of this connection: %w", err)
	}
	return info.Data.Account, nil
}
