// Command shepherd takes stories' code to merged pull requests.
package main

import (
	"context"
	"os"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/shepherd/app"
)

func main() {
	os.Exit(service.Run(context.Background(), service.Main{
		Name: "shepherd", About: "Opens pull requests for stories, answers their reviewers, merges what is ready.", Program: &app.App{},
	}))
}
