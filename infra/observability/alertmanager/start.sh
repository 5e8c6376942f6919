#!/bin/sh
# The container's first program: our routes and the operator's receivers as one file, since Alertmanager reads one only.
set -eu
cat /etc/alertmanager/routes.yml /etc/alertmanager/receivers/receivers.yml >/tmp/alertmanager.yml
exec alertmanager --config.file=/tmp/alertmanager.yml --storage.path=/alertmanager "$@"
