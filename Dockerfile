# All images of the platform. They differ in the target, and services in name and port:
#   docker build --target gateway .
#   docker build --target service --build-arg SERVICE=users --build-arg PORT=4001 .
# The images have the same folders as the repository, because Node does not strip types below node_modules.

# One install for all images, by the lock file. It precedes the sources, so that it is repeated only if a package changes.
FROM node:24-bookworm-slim AS installed
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY kit/package.json kit/
COPY services/users/package.json services/users/
COPY services/posts/package.json services/posts/
COPY services/comments/package.json services/comments/
COPY services/orders/package.json services/orders/
COPY gateway/package.json gateway/
COPY rest-proxy/package.json rest-proxy/
COPY infra/issuer/package.json infra/issuer/
COPY infra/purger/package.json infra/purger/
RUN npm ci --ignore-scripts --include=dev && npm cache clean --force

# GraphiQL's page, which the gateway serves.
FROM installed AS graphiql
COPY tsconfig.json ./
COPY scripts/bundle-graphiql.mjs scripts/
COPY gateway/graphiql gateway/graphiql
RUN node scripts/bundle-graphiql.mjs

# One stage per process: its sources, the installed packages that it loads, and the link to the kit.
FROM node:24-bookworm-slim AS files
WORKDIR /app
COPY infra/images infra/images
COPY kit/package.json kit/
COPY kit/src kit/src
RUN mkdir -p node_modules/@tributary && ln -s ../../kit node_modules/@tributary/kit

FROM files AS service-files
ARG SERVICE
COPY services/${SERVICE} services/${SERVICE}
RUN --mount=type=bind,from=installed,source=/app,target=/installed \
  node infra/images/collect.ts services/${SERVICE}/src/main.ts /installed

FROM files AS gateway-files
COPY gateway/package.json gateway/
COPY gateway/src gateway/src
RUN --mount=type=bind,from=installed,source=/app,target=/installed node infra/images/collect.ts gateway/src/main.ts /installed
COPY --from=graphiql /app/gateway/public gateway/public

FROM files AS rest-proxy-files
COPY rest-proxy/package.json rest-proxy/
COPY rest-proxy/src rest-proxy/src
RUN --mount=type=bind,from=installed,source=/app,target=/installed node infra/images/collect.ts rest-proxy/src/main.ts /installed

FROM files AS issuer-files
COPY infra/issuer/package.json infra/issuer/
COPY infra/issuer/src infra/issuer/src
RUN --mount=type=bind,from=installed,source=/app,target=/installed node infra/images/collect.ts infra/issuer/src/main.ts /installed

FROM files AS purger-files
COPY infra/purger/package.json infra/purger/
COPY infra/purger/src infra/purger/src
RUN --mount=type=bind,from=installed,source=/app,target=/installed node infra/images/collect.ts infra/purger/src/main.ts /installed

FROM files AS seed-files
COPY package.json scripts/seed.ts scripts/
COPY scripts/seed scripts/seed
RUN --mount=type=bind,from=installed,source=/app,target=/installed node infra/images/collect.ts scripts/seed.ts /installed

# The base of all runtime images. `start` execs Node, so that Node gets the signals.
# The root file system may be read-only: V8's compile cache is in the image.
# The health check uses the admin listener (ADMIN_PORT), which by default listens only inside the container (ADMIN_HOST).
FROM node:24-bookworm-slim AS process
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 NODE_COMPILE_CACHE=/app/.compile-cache
COPY --chmod=755 infra/images/start infra/images/healthy infra/images/restart-frozen infra/images/
COPY infra/images/compile.ts infra/images/
RUN install --directory --owner=node .compile-cache
ENTRYPOINT ["/app/infra/images/start"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=5 CMD ["/app/infra/images/healthy"]

FROM process AS service
ARG SERVICE
ARG PORT
COPY --from=service-files /app/node_modules node_modules
COPY --from=service-files /app/kit kit
COPY --from=service-files /app/services/${SERVICE} services/${SERVICE}
USER node
RUN node infra/images/compile.ts services/${SERVICE}/src/main.ts
ARG VERSION=development
ARG REVISION=unknown
ENV BUILD_VERSION=${VERSION} BUILD_REVISION=${REVISION} PORT=${PORT} ADMIN_PORT=9464
EXPOSE ${PORT}
WORKDIR /app/services/${SERVICE}
CMD ["node", "src/main.ts"]

FROM process AS gateway
COPY --from=gateway-files /app/node_modules node_modules
COPY --from=gateway-files /app/kit kit
COPY --from=gateway-files /app/gateway gateway
COPY supergraph/supergraph.graphql supergraph/
ENV APOLLO_TELEMETRY_DISABLED=1 SUPERGRAPH_FILE=/app/supergraph/supergraph.graphql
USER node
# Flags for one core; `npm run bench` uses the same. A young generation of 16 MB instead of 64 MB saves 65 MB of memory without more CPU
# per response. One V8 helper thread instead of four shortens the pauses of the main thread during garbage collection.
RUN node --max-semi-space-size=16 --v8-pool-size=1 infra/images/compile.ts gateway/src/main.ts
ARG VERSION=development
ARG REVISION=unknown
ENV BUILD_VERSION=${VERSION} BUILD_REVISION=${REVISION} PORT=4000 ADMIN_PORT=9464
EXPOSE 4000
CMD ["node", "--max-semi-space-size=16", "--v8-pool-size=1", "gateway/src/main.ts"]

FROM process AS rest-proxy
COPY --from=rest-proxy-files /app/node_modules node_modules
COPY --from=rest-proxy-files /app/kit kit
COPY --from=rest-proxy-files /app/rest-proxy rest-proxy
COPY supergraph/routes.json supergraph/
COPY supergraph/openapi supergraph/openapi
USER node
RUN node infra/images/compile.ts rest-proxy/src/main.ts
ARG VERSION=development
ARG REVISION=unknown
ENV BUILD_VERSION=${VERSION} BUILD_REVISION=${REVISION} PORT=4010 ADMIN_PORT=9464
EXPOSE 4010
CMD ["node", "rest-proxy/src/main.ts"]

# Only with a CDN or a cache in front of the platform.
FROM process AS purger
COPY --from=purger-files /app/node_modules node_modules
COPY --from=purger-files /app/kit kit
COPY --from=purger-files /app/infra/purger infra/purger
USER node
RUN node infra/images/compile.ts infra/purger/src/main.ts
ARG VERSION=development
ARG REVISION=unknown
ENV BUILD_VERSION=${VERSION} BUILD_REVISION=${REVISION} PORT=4030 ADMIN_PORT=9464
EXPOSE 4030
CMD ["node", "infra/purger/src/main.ts"]

# For development only: it issues tokens to any client without authentication.
FROM process AS issuer
COPY --from=issuer-files /app/node_modules node_modules
COPY --from=issuer-files /app/kit kit
COPY --from=issuer-files /app/infra/issuer infra/issuer
USER node
RUN node infra/images/compile.ts infra/issuer/src/main.ts
ENV PORT=4020
EXPOSE 4020
CMD ["node", "infra/issuer/src/main.ts"]

# For development only: a job that fills empty databases.
FROM process AS seed
COPY --from=seed-files /app/node_modules node_modules
COPY --from=seed-files /app/scripts scripts
USER node
HEALTHCHECK NONE
CMD ["node", "scripts/seed.ts"]
