package learning

// Values of the policy learnings. A lifecycle without it has OnlyConfirmed.
const (
	Auto          = "auto"      // prompts have some that nothing confirmed, too, if no stranger was heard
	OnlyConfirmed = "confirmed" // prompts have those that were confirmed
	None          = "none"      // none are noted, and no prompt has any
)
