// The platform under test: two replicas of each service, three of users, each behind a fault proxy, whose addresses are those of the service's name.
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { type FaultProxy, startFaultProxy } from "../../platform/fault-proxy.ts";
import {
  type PartName,
  type PlacedService,
  type Platform,
  serviceNames,
  startPlatform,
  type StartReplica,
  supergraphFile,
} from "../../platform/platform.ts";
import { createDnsOverrides } from "../../platform/test-dns.ts";
import type { VerificationRun } from "../../verification.ts";

export interface ChaosPlatform {
  readonly platform: Platform;
  readonly services: readonly FaultableService[];
  readonly users: FaultableService;
  /** Replaces the gateway's supergraph; undefined for the right one. */
  publish(text?: string): void;
}

interface FaultableService {
  readonly replicas: Platform["replicas"]["users"];
  readonly proxies: readonly FaultProxy[];
  /** Publishes a dead address instead of this replica's, or the addresses of all. */
  replaceAddress(replica: number | undefined): void;
}

const allHosts = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
const deadHost = "127.0.0.9";

export async function startChaosPlatform(
  run: Pick<VerificationRun, "onCleanup">,
  logs: string | undefined,
): Promise<ChaosPlatform> {
  const { onCleanup } = run;
  const folder = mkdtempSync(join(tmpdir(), "tributary-chaos-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  const supergraph = join(folder, "supergraph.graphql");
  copyFileSync(supergraphFile, supergraph);
  const dns = createDnsOverrides(onCleanup);
  const services = new Map<PartName, FaultableService>();

  async function placeBehindProxies(name: PartName, start: StartReplica): Promise<PlacedService> {
    // A replica that is avoided for its latency needs two others to compare with.
    const hosts = name === "users" ? allHosts : allHosts.slice(0, 2);
    const port = await pickFreePort(hosts[0]);
    const replicas = await Promise.all(hosts.map(() => start()));
    const proxies = await Promise.all(replicas.map(({ url }, index) => startFaultProxy(hosts[index] ?? "", port, url)));
    onCleanup(() => proxies.forEach((proxy) => proxy.close()));
    const hostName = `${name}.test`;
    const replaceAddress = (replica: number | undefined) =>
      dns.publish(
        hostName,
        hosts.map((host, index) => (index === replica ? deadHost : host)),
      );
    replaceAddress(undefined);
    services.set(name, { replicas, proxies, replaceAddress });
    return { replicas, urls: [`http://${hostName}:${port}`] };
  }

  const platform = await startPlatform({
    run,
    logs,
    environment: (part) => {
      if (part === "gateway") return { ...dns.environment, SUPERGRAPH_FILE: supergraph };
      return part === "rest-proxy" ? dns.environment : {};
    },
    place: placeBehindProxies,
  });
  const rightSupergraph = readFileSync(supergraph, "utf8");
  const users = services.get("users");
  if (!users) throw new Error("users does not run");
  return {
    platform,
    users,
    // In the order of their names: a schedule is the same in each run.
    services: serviceNames.flatMap((name) => services.get(name) ?? []),
    publish(text = rightSupergraph) {
      writeFileSync(`${supergraph}.new`, text);
      renameSync(`${supergraph}.new`, supergraph);
    },
  };
}
