# Agents for repositories in JavaScript: Node.js, npm, and a compiler for packages that are built natively. Build it after
# `make images`; another version of Node.js is another pair of lines in place of apt-get.
#
#   docker build -f deploy/agents/node.Dockerfile -t signalbox/runtime-node:dev deploy/agents
ARG RUNTIME=signalbox/runtime:dev
FROM ${RUNTIME} AS runtime-node
USER root
RUN apt-get update \
 && apt-get install --yes --no-install-recommends nodejs npm g++ make python3-minimal \
 && rm -rf /var/lib/apt/lists/*
USER 10001:0
# The first call of npm would write its own configuration and logs.
RUN npm config set update-notifier=false fund=false audit=false && chmod -R g=u /home/signalbox
