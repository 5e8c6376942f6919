#!/bin/sh
# The container's entry point: joins routes.yml and the operator's receivers.yml, because Alertmanager reads one file.
set -eu
cat /etc/alertmanager/routes.yml /etc/alertmanager/receivers/receivers.yml >/tmp/alertmanager.yml
exec alertmanager --config.file=/tmp/alertmanager.yml --storage.path=/alertmanager "$@"
