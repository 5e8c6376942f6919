#!/usr/bin/env bash
# Brings an overlay into the cluster that kubectl is set to: the first time, and each time after that.
#   infra/kubernetes/deploy.sh local
#   infra/kubernetes/deploy.sh production
# The order is the point: databases, their migrations, the services, and last what offers to clients what the services can answer: the
# supergraph, and the doors with REST's routes in their image.
# Whatever fails ends it there; what runs goes on running. Safe to call again at any time.
set -euo pipefail

overlay=${1:?local or production}
folder=$(cd "$(dirname "$0")" && pwd)/overlays/$overlay
namespace=tributary
services=(users posts comments orders)
migrations=app.kubernetes.io/component=migration
cnpg_version=1.29.1
cnpg=https://raw.githubusercontent.com/cloudnative-pg/cloudnative-pg/release-${cnpg_version%.*}/releases/cnpg-$cnpg_version.yaml

in_namespace() { kubectl --namespace "$namespace" "$@"; }
step() { printf '\n=== %s\n' "$*"; }
has_databases() { kubectl kustomize "$folder/ground" | grep '^kind: Cluster$' >/dev/null; }
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

# The operator's webhook looks at each database first. For a moment after its start, or while its pod moves, nobody answers there.
apply_ground() {
  local said
  for _ in {1..60}; do
    if said=$(kubectl apply -k "$folder/ground" 2>&1); then
      printf '%s\n' "$said"
      return
    fi
    [[ $said == *"failed calling webhook"* ]] || break
    sleep 2
  done
  printf '%s\n' "$said" >&2
  return 1
}

# Which implementation is the cluster's own matter; without any, the roll-out would end half-way.
require_gateway() {
  kubectl get crd httproutes.gateway.networking.k8s.io >/dev/null 2>&1 && return
  printf 'Gateway API is not installed: the routes need one of its implementations.\n' >&2
  exit 1
}

# The keys that sign cursors: made here for a local cluster, never for production, where they come from where secrets are kept.
require_keys() {
  local missing=()
  for service in "${services[@]}"; do
    in_namespace get secret "$service-cursor-keys" >/dev/null 2>&1 || missing+=("$service-cursor-keys")
  done
  for secret in ${missing[@]+"${missing[@]}"}; do
    [[ $overlay == local ]] || continue
    in_namespace create secret generic "$secret" --from-literal="keys=$(openssl rand -hex 32)"
  done
  if [[ $overlay != local && ${#missing[@]} -gt 0 ]]; then
    printf 'Secrets are missing, each with the key "keys": %s\n' "${missing[*]}" >&2
    exit 1
  fi
}

# A Job's pod cannot be changed: the last time's Jobs go first. They end by themselves, complete or failed, after ten minutes at the most.
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

step "Namespace, network, databases"
apply_ground
require_keys
if has_databases; then in_namespace wait clusters.postgresql.cnpg.io --all --for=condition=Ready --timeout=15m; fi

step "Migrations"
migrate

# Of the local overlay alone: what it finds filled it leaves as it is.
if [[ -d $folder/seed ]]; then
  step "Seed"
  in_namespace delete job/seed --ignore-not-found
  kubectl apply -k "$folder/seed"
  in_namespace wait job/seed --for=condition=Complete --timeout=10m
fi

step "Services"
kubectl apply -k "$folder" --selector 'app.kubernetes.io/component notin (supergraph,door)'
for service in "${services[@]}"; do in_namespace rollout status "deployment/$service" --timeout=15m; done

step "Supergraph and doors"
kubectl apply -k "$folder"
for door in gateway rest-proxy; do in_namespace rollout status "deployment/$door" --timeout=15m; done

step "Tributary runs"
in_namespace get deployments
if [[ $overlay == local ]]; then
  printf '\nTo reach it from here, each in a terminal of its own:\n'
  for door in gateway:4000 rest-proxy:4010 issuer:4020; do
    printf '  kubectl --namespace %s port-forward service/%s %s\n' "$namespace" "${door%:*}" "${door#*:}"
  done
fi
