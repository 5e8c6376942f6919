// Starts Varnish with the rules of infra/purger/varnish for cdn.ts.
import { findCacheProgram, startVarnish } from "../../../../test/end-to-end/http-caches.ts";
import { installDebianPackages } from "../../debian-packages.ts";
import { type Platform, replicaOf } from "../../platform/platform.ts";
import type { VerificationRun } from "../../verification.ts";

const packages = ["varnish", "varnish-modules"];

/** Starts Varnish in front of the gateway and the REST proxy; Debian's packages are installed if they are missing. @returns its base URL. */
export async function startVarnishOf(
  platform: Platform,
  purgeToken: string,
  { onCleanup, print }: Pick<VerificationRun, "onCleanup" | "print">,
): Promise<string> {
  if (findCacheProgram("varnishd") === undefined)
    installDebianPackages(packages, { hint: `install ${packages.join(", ")}.`, print });
  const endpoints = { gatewayUrl: replicaOf(platform, "gateway").url, proxyUrl: replicaOf(platform, "rest-proxy").url };
  const varnish = await startVarnish(findCacheProgram("varnishd") ?? "varnishd", endpoints, purgeToken);
  onCleanup(varnish.stop);
  return varnish.url;
}
