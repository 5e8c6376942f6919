#!/usr/bin/env bash
# Deploys an overlay to the current kubectl context, for the first time or as an update.
#   infra/kubernetes/deploy.sh local
#   infra/kubernetes/deploy.sh production
# The order matters: databases, migrations, services, and last the supergraph, the gateway and the REST proxy with its routes, so that clients
# see new fields and routes only when all services support them.
# The first failure stops the deployment and leaves running pods unchanged. It can be repeated at any time.
set -euo pipefail

overlay=${1:?local or production}
kubernetes=$(cd "$(dirname "$0")" && pwd)
folder=$kubernetes/overlays/$overlay
namespace=tributary
# Those of this repository have a database and keys. An external one has a Deployment if its image runs in this cluster.
services=()
for sources in "$kubernetes"/../../services/*/src; do services+=("$(basename "$(dirname "$sources")")"); done
deployments=()
for descriptor in "$kubernetes"/../../services/*/service.json; do
  name=$(basename "$(dirname "$descriptor")")
  [[ ! -e $kubernetes/base/$name.yaml ]] || deployments+=("$name")
done
migrations=app.kubernetes.io/component=migration
cnpg_version=1.29.1
barman=https://github.com/cloudnative-pg/plugin-barman-cloud
cnpg=https://raw.githubusercontent.com/cloudnative-pg/cloudnative-pg/release-${cnpg_version%.*}/releases/cnpg-$cnpg_version.yaml

in_namespace() { kubectl --namespace "$namespace" "$@"; }
step() { printf '\n=== %s\n' "$*"; }
has_databases() { kubectl kustomize "$folder/prerequisites" | grep '^kind: Cluster$' >/dev/null; }
has_backups() { kubectl kustomize "$folder/prerequisites" | grep '^kind: ObjectStore$' >/dev/null; }
has_routes() { kubectl kustomize "$folder" | grep '^kind: HTTPRoute$' >/dev/null; }

install_operator() {
  kubectl get crd clusters.postgresql.cnpg.io >/dev/null 2>&1 && return
  if [[ $overlay != local ]]; then
    printf 'CloudNativePG is not installed. kubectl apply --server-side -f %s\n' "$cnpg" >&2
    exit 1
  fi
  step "CloudNativePG $cnpg_version"
  kubectl apply --server-side -f "$cnpg"
  kubectl --namespace cnpg-system rollout status deployment/cnpg-controller-manager --timeout=5m
}

# The operator's webhook validates each database. It does not respond for a moment after its start, or while its pod is rescheduled.
apply_prerequisites() {
  local output
  for _ in {1..60}; do
    if output=$(kubectl apply -k "$folder/prerequisites" 2>&1); then
      printf '%s\n' "$output"
      return
    fi
    [[ $output == *"failed calling webhook"* ]] || break
    sleep 2
  done
  printf '%s\n' "$output" >&2
  return 1
}

# Any implementation will do; without one the rollout would fail half-way.
require_gateway() {
  kubectl get crd httproutes.gateway.networking.k8s.io >/dev/null 2>&1 && return
  printf 'Gateway API is not installed: the routes need one of its implementations.\n' >&2
  exit 1
}

# A database without its log archive would run, and could not be restored.
require_backups() {
  if ! kubectl get crd objectstores.barmancloud.cnpg.io >/dev/null 2>&1; then
    printf 'The plugin for backups is not installed: %s\n' "$barman" >&2
    exit 1
  fi
}

# The keys for cursors, change feeds and receipts: generated here for a local cluster only. In production they come from your secret store.
require_keys() {
  local missing=()
  for secret in "${services[@]/%/-cursor-keys}" feed-keys consistency-keys; do
    in_namespace get secret "$secret" >/dev/null 2>&1 || missing+=("$secret")
  done
  for secret in ${missing[@]+"${missing[@]}"}; do
    [[ $overlay == local ]] || continue
    in_namespace create secret generic "$secret" --from-literal="keys=$(openssl rand -hex 32)"
  done
  if [[ $overlay != local && ${#missing[@]} -gt 0 ]]; then
    printf 'Secrets are missing, each with the key "keys": %s\n' "${missing[*]}" >&2
    exit 1
  fi
  if has_backups && ! in_namespace get secret backup-credentials >/dev/null 2>&1; then
    printf 'The Secret backup-credentials is missing, with the keys "id" and "secret"\n' >&2
    exit 1
  fi
}

# Delete the previous Jobs first, because a Job's pod template is immutable. A Job completes or fails within ten minutes.
migrate() {
  in_namespace delete job --selector "$migrations" --ignore-not-found
  kubectl apply -k "$folder/migrations"
  local ended
  while true; do
    ended=$(in_namespace get job --selector "$migrations" -o jsonpath='{.items[*].status.conditions[?(@.status=="True")].type}')
    if [[ " $ended " == *" Failed "* ]]; then
      in_namespace logs --selector "$migrations" --tail=50 --prefix >&2 || true
      printf 'A migration failed. Nothing was rolled out.\n' >&2
      exit 1
    fi
    [[ $(grep -ow Complete <<<"$ended" | wc -l) -eq ${#services[@]} ]] && return
    sleep 2
  done
}

if has_routes; then require_gateway; fi
if has_databases; then install_operator; fi
if has_backups; then require_backups; fi

step "Namespace, network, databases"
apply_prerequisites
require_keys
if has_databases; then in_namespace wait clusters.postgresql.cnpg.io --all --for=condition=Ready --timeout=15m; fi

step "Migrations"
migrate

# Only in the local overlay. Databases with data are not changed.
if [[ -d $folder/seed ]]; then
  step "Seed"
  in_namespace delete job/seed --ignore-not-found
  kubectl apply -k "$folder/seed"
  in_namespace wait job/seed --for=condition=Complete --timeout=10m
fi

step "Services"
kubectl apply -k "$folder" --selector 'app.kubernetes.io/component notin (supergraph,endpoint)'
for service in "${deployments[@]}"; do in_namespace rollout status "deployment/$service" --timeout=15m; done

step "Supergraph, gateway and REST proxy"
kubectl apply -k "$folder"
for process in gateway rest-proxy; do in_namespace rollout status "deployment/$process" --timeout=15m; done

step "Tributary is running"
in_namespace get deployments
if [[ $overlay == local ]]; then
  printf '\nTo reach it from this machine, run each in its own terminal:\n'
  for process in gateway:4000 rest-proxy:4010 issuer:4020; do
    printf '  kubectl --namespace %s port-forward service/%s %s\n' "$namespace" "${process%:*}" "${process#*:}"
  done
fi
