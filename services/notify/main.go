// Command notify delivers notifications to webhooks and chats: people are waited for, an
// instance has ended, a budget is spent. The work is done in services/notify/app.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/notify/app"
)

func main() {
	os.Exit(service.Run(context.Background(), app.Main()))
}
