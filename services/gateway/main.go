// Command gateway watches repositories on the forge for Signalbox.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/gateway/app"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "gateway", About: "Watches repositories on the forge and passes on what people do there.", Program: &app.App{},
	}))
}
