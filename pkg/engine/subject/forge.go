package subject

// OpenIssue is where the gateway takes a report for the forge: it makes the
// issue there and opens an instance for it.
const OpenIssue = "sb.forge.issue.open"

// SignIn is where a console gives a person a link that signs in.
const SignIn = "sb.console.login"

// ReplayDelivery is where the gateway handles again what a webhook delivered.
const ReplayDelivery = "sb.forge.delivery.replay"

// Configuration is where the gateway says which configuration is in force for a repository.
const Configuration = "sb.forge.configuration"

// PostComment is where the PM posts what another service has to tell people.
const PostComment = "sb.forge.comment.post"

// ForgeLimits is where the orchestrator says that a limit of the forge is reached.
const ForgeLimits = "sb.forge.limits"
