// Command pm is the one voice of Signalbox towards people.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/pm/app"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "pm", About: "Asks people through issue comments, reads their answers, opens pull requests.", Program: &app.App{},
	}))
}
