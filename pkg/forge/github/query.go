package github

import _ "embed"

// The queries and mutations that are sent. pkg/localforge checks them against GitHub's
// schema.
var (
	//go:embed query/viewer.graphql
	viewerQuery string
	//go:embed query/review_state.graphql
	reviewStateQuery string
	//go:embed query/editor.graphql
	editorQuery string
	//go:embed query/mentions.graphql
	mentionsQuery string
	//go:embed query/closers.graphql
	closersQuery string
	//go:embed query/owned.graphql
	ownedQuery string
	//go:embed query/ready.graphql
	readyMutation string
	//go:embed query/queued.graphql
	queuedQuery string
	//go:embed query/enqueue.graphql
	enqueueMutation string
	//go:embed query/dequeue.graphql
	dequeueMutation string
	//go:embed query/resolve.graphql
	resolveMutation string
)
