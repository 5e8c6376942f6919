#!/usr/bin/env bash
# Builds the images of docker-compose.yml, and makes them available to a cluster:
#   infra/kubernetes/images.sh kind                                  into the nodes of a kind cluster
#   infra/kubernetes/images.sh minikube                              into a minikube cluster
#   infra/kubernetes/images.sh registry.example.com/tributary 1.2.3  to a registry, under an immutable tag
# Further arguments are further images: purger, if the overlay has it.
set -euo pipefail
cd "$(dirname "$0")/../.."

where=${1:?kind, minikube, or a registry and a tag}
units=(gateway rest-proxy)
for sources in services/*/src; do units+=("$(basename "$(dirname "$sources")")"); done # Teams build the images of external services.
case $where in
  kind | minikube) tag=local units+=(issuer seed "${@:2}") ;;
  *) tag=${2:?a tag, such as the version or the commit} units+=("${@:3}") ;;
esac

compose=(docker compose)
docker compose version >/dev/null 2>&1 || compose=(docker-compose)
REVISION=$(git rev-parse HEAD 2>/dev/null || echo unknown)
export REVISION VERSION=$tag DOCKER_BUILDKIT=1 COMPOSE_DOCKER_CLI_BUILD=1
"${compose[@]}" --env-file infra/compose/development.env build "${units[@]}"

for unit in "${units[@]}"; do
  image=tributary/$unit:$tag
  case $where in
    kind) kind load docker-image "$image" ;;
    minikube) minikube image load "$image" ;;
    *)
      docker tag "$image" "$where/$unit:$tag"
      docker push "$where/$unit:$tag"
      ;;
  esac
done
