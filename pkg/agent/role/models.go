package role

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/brain/model"
)

// Models are the flags of brains that are models.
type Models struct {
	Turns       int      `name:"model-turns" default:"100" help:"How many answers a model may give for one piece of work."`
	MaxTokens   int      `name:"model-max-tokens" default:"16000" help:"How many tokens an answer of a model may have."`
	Temperature *float64 `name:"model-temperature" placeholder:"NUMBER" help:"Temperature of models; without it the provider's default."`
	Effort      string   `name:"model-effort" placeholder:"EFFORT" help:"How much models think, such as low, medium or high; without it the provider's default."`
	Prices      string   `name:"prices" type:"path" placeholder:"FILE" help:"JSON file with prices and sizes of models; of those it does not name, the built-in table counts."`

	cards model.Cards
}

// read reads the table of prices.
func (m *Models) read() (err error) {
	if m.Turns < 0 || m.MaxTokens < 0 {
		return fmt.Errorf("--model-turns and --model-max-tokens: want a number above zero")
	}
	if m.Prices != "" {
		if m.cards, err = model.ReadCards(m.Prices); err != nil {
			return fmt.Errorf("--prices: %w", err)
		}
	}
	return nil
}

// fill completes the configuration of a brain.
func (m Models) fill(cfg *model.Config) {
	cfg.Turns, cfg.MaxTokens, cfg.Temperature, cfg.Effort, cfg.Cards = m.Turns, m.MaxTokens, m.Temperature, m.Effort, m.cards
}
