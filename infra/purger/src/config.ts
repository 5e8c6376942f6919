/** The configuration of the purger, from environment variables. Each `why` is the text of the variable in README.md. */
import { readFeedsConfig } from "@tributary/kit/feed/feed-config";
import { type Environment, type EnvironmentReader, readEnvironment } from "@tributary/kit/process/env";
import { readListenerConfig } from "@tributary/kit/process/listener-config";
import { readMetricsConfig } from "@tributary/kit/process/telemetry-config";
import { type PurgeForm, purgeForms, type PurgeTarget } from "./purge-request.ts";

/** The addresses at which `npm start` runs the services of this repository. */
const developmentAddresses: Readonly<Record<string, string>> = {
  users: "http://127.0.0.1:4001",
  posts: "http://127.0.0.1:4002",
  comments: "http://127.0.0.1:4003",
  orders: "http://127.0.0.1:4004",
};

/** Each URL is a label value of several metrics. */
const cachesMax = 100;

/** @throws ConfigError with every problem at once. */
export function readConfig(environment: Environment) {
  return readEnvironment(environment, (env) => {
    const profile = env.choice("PROFILE", {
      of: ["development", "production"],
      fallback: "development",
      why: "production has no default addresses and keys",
    });
    return {
      ...readListenerConfig(env, { port: 4030, shutdownGraceMs: 2_000 }),
      ...readMetricsConfig(env),
      ...readFeeds(env, profile),
      targets: readTargets(env),
      queueMax: env.integer("PURGE_QUEUE_MAX", {
        fallback: 10_000,
        min: 1,
        max: 1_000_000,
        why: "groups that wait for a purge, for each cache; beyond it whole services are purged instead",
      }),
      requestTimeoutMs: env.integer("PURGE_TIMEOUT_MS", {
        fallback: 5_000,
        min: 10,
        max: 60_000,
        why: "a cache has this long to respond to a purge; then it is repeated",
      }),
    };
  });
}

function readFeeds(env: EnvironmentReader, profile: "development" | "production") {
  const isDevelopment = profile === "development";
  const services = env.list("SERVICES", {
    ...(isDevelopment ? { fallback: Object.keys(developmentAddresses) } : {}),
    why: "the services whose responses caches store: the purger follows the feed of each; required in production",
  });
  const addressesOf = (service: string) => [(isDevelopment && developmentAddresses[service]) || []].flat();
  const addresses = Object.fromEntries(services.map((service) => [service, addressesOf(service)]));
  const variableOf = (service: string) => `${service.toUpperCase().replaceAll("-", "_")}_FEED_URL`;
  const feeds = readFeedsConfig(env, profile, addresses, variableOf);
  const missing = services.filter((service) => !feeds.feedUrls[service]);
  for (const service of missing) env.problem(`${variableOf(service)} is required: ${service} is one of SERVICES`);
  return feeds;
}

function readTargets(env: EnvironmentReader): readonly PurgeTarget[] {
  const form: PurgeForm = env.choice("PURGE_FORM", {
    of: purgeForms,
    fallback: "varnish",
    why: "the form of the purges: varnish (PURGE with xkey-purge, see varnish/varnish.vcl), fastly (POST with Surrogate-Key), cloudflare (POST with the tags as JSON)",
  });
  const urls = env.list("PURGE_URL", {
    why: "the caches to purge, 100 at most; each gets every purge: Varnish servers, or the purge URL of the CDN's API (https://api.fastly.com/service/ID/purge, https://api.cloudflare.com/client/v4/zones/ID/purge_cache)",
  });
  const token = env.optional("PURGE_TOKEN", {
    secret: true,
    why: "the token of the CDN's API; for Varnish its PURGE_TOKEN, if it has one; required for fastly and cloudflare",
  });
  if (form !== "varnish" && token === undefined) env.problem(`PURGE_TOKEN is required with PURGE_FORM=${form}`);
  if (urls.some((url) => !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)))
    env.problem("PURGE_URL has to be http(s) URLs, separated by commas");
  if (urls.length > cachesMax) env.problem(`PURGE_URL has at most ${cachesMax} URLs`);
  return [...new Set(urls)].map((url) => ({ form, url, token }));
}
