package brain

import "github.com/signalbox/signalbox/pkg/agent/brain/prompt"

// Prompt returns the assignment as Markdown, by the shipped templates. Texts of people and
// programs stand between marks that they cannot forge: 128 random bits that are new in
// each prompt.
func Prompt(a Assignment) string { return prompt.Set{}.Render(a).Text }

// maxQuoted limits the bytes that a prompt quotes of one text.
const maxQuoted = prompt.MaxQuoted
