# Agents for repositories in Python: pip, venv, pytest, and the headers for packages that are built natively. Build it after
# `make images`; another version of Python is another line in place of apt-get.
#
#   docker build -f deploy/agents/python.Dockerfile -t signalbox/runtime-python:dev deploy/agents
ARG RUNTIME=signalbox/runtime:dev
FROM ${RUNTIME} AS runtime-python
USER root
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 python3-dev python3-pip python3-pytest python3-venv gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
# The first `import` of a container would compile the standard library, and keep nothing of it.
RUN python3 -m compileall -q /usr/lib/python3 /usr/lib/python3.*
ENV PIP_DISABLE_PIP_VERSION_CHECK=1
USER 10001:0
