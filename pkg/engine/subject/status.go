package subject

// Statuses is the durable consumer of the commits that the comments on how issues stand
// follow: all.
const Statuses = "statuses"

// Notifications is the durable consumer of the commits that people are notified of: all.
const Notifications = "notify"
