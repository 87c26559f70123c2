package role

// Duties are the built-in roles that work on code, by name. In a state that is
// not named here a role just thinks.
func Duties() map[string]Duty {
	return map[string]Duty{
		"analyst":   {},
		"tester":    {Tests: []string{"running_tests", "validating_solution"}},
		"developer": {Changes: []string{"implementing", "fixing_issues", "refactoring", "addressing_feedback"}},
		"navigator": {},
	}
}
