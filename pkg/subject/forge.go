package subject

// OpenIssue is where the gateway takes a report for the forge: it makes the
// issue there and opens an instance for it.
const OpenIssue = "sb.forge.issue.open"
