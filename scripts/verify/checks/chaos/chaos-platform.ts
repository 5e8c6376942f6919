// The platform under test, on free ports: PostgreSQL, a token issuer, the gateway, the REST proxy, and two replicas of each service, three of users.
// Each replica is behind a fault proxy, whose addresses are those of the service's name.
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "@tributary/kit/postgres/migrate";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { silentLog } from "@tributary/kit/process/log";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { replaceFile } from "../../../replace-file.ts";
import { truncateAndSeed } from "../../../seed/seed.ts";
import { gatewayVariables, restProxyVariables } from "../../../start/environments.ts";
import { type FaultProxy, startFaultProxy } from "../../platform/fault-proxy.ts";
import {
  endpointKeys,
  type Environment,
  type PartFolder,
  type PartProcess,
  serviceNames,
  startProcess,
} from "../../platform/part-process.ts";
import { type PlatformPostgres, startPostgres } from "../../platform/postgres.ts";
import { createDnsOverrides } from "../../platform/test-dns.ts";
import type { VerificationRun } from "../../verification.ts";

export interface Replica extends PartProcess {
  /** Such as "posts 2". */
  readonly name: string;
  /** Host and port of its metrics. */
  readonly admin: string;
}

export interface ChaosPlatform {
  readonly issuer: TestIssuer;
  readonly postgres: PlatformPostgres;
  /** In the order of their names: a schedule is the same in each run. */
  readonly services: readonly FaultableService[];
  readonly users: FaultableService;
  readonly gateway: Replica;
  readonly restProxy: Replica;
  /** Replaces the gateway's supergraph; undefined for the right one. */
  publish(text?: string): void;
}

interface FaultableService {
  readonly replicas: readonly Replica[];
  readonly proxies: readonly FaultProxy[];
  /** Publishes a dead address instead of this replica's, or the addresses of all. */
  replaceAddress(replica: number | undefined): void;
}

const root = join(import.meta.dirname, "../../../..");
export const supergraphFile = join(root, "supergraph/supergraph.graphql");
const loopback = "127.0.0.1";
const allHosts = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
const deadHost = "127.0.0.9";

/** It is stopped, and its data deleted, when the verification ends. @param logs a folder for the output of each process, one file each. */
export async function startChaosPlatform(run: VerificationRun, logs: string | undefined): Promise<ChaosPlatform> {
  const { onCleanup } = run;
  const folder = mkdtempSync(join(tmpdir(), "tributary-chaos-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  if (logs !== undefined) mkdirSync(logs, { recursive: true });
  const supergraph = join(folder, "supergraph.graphql");
  copyFileSync(supergraphFile, supergraph);
  const issuer = await startTestIssuer();
  onCleanup(() => issuer.stop());
  const postgres = await startPostgres(join(folder, "postgres"), run);
  const databaseUrls = await createDatabases(postgres);
  const dns = createDnsOverrides(folder);

  async function startReplica(name: string, part: PartFolder, environment: Environment): Promise<Replica> {
    const [port, adminPort] = [await pickFreePort(), await pickFreePort()];
    const listeners = { HOST: loopback, PORT: String(port), ADMIN_PORT: String(adminPort), LOG_LEVEL: "warn" };
    const replica = await startProcess(part, `http://${loopback}:${port}`, {
      environment: { ...environment, ...listeners },
      onCleanup,
      onOutput(text) {
        if (logs !== undefined) appendFileSync(join(logs, `${name.replace(" ", "-")}.log`), text);
      },
    });
    return { ...replica, name, admin: `${loopback}:${adminPort}` };
  }

  async function startServiceReplica(name: string, number: number) {
    const feedPort = await pickFreePort();
    const replica = await startReplica(`${name} ${number}`, `services/${name}`, {
      ...{ ISSUER: issuer.issuer, AUDIENCE: issuer.audience, JWKS_URL: issuer.jwksUrl },
      ...{ DATABASE_URL: databaseUrls[name] ?? "", FEED_PORT: String(feedPort), FEED_KEYS: endpointKeys.FEED_KEYS },
      // As deployed. Without it, a write can arrive on a connection at the moment at which its replica closes it.
      DRAIN_DELAY_MS: "2000",
    });
    return { ...replica, feedUrl: `http://${loopback}:${feedPort}` };
  }

  async function startService(name: string) {
    // A replica that is avoided for its latency needs two others to compare with.
    const hosts = name === "users" ? allHosts : allHosts.slice(0, 2);
    const port = await pickFreePort(hosts[0]);
    const replicas = await Promise.all(hosts.map((_, index) => startServiceReplica(name, index + 1)));
    const proxies = await Promise.all(replicas.map(({ url }, index) => startFaultProxy(hosts[index] ?? "", port, url)));
    onCleanup(() => proxies.forEach((proxy) => proxy.close()));
    const hostName = `${name}.test`;
    const replaceAddress = (replica: number | undefined) => {
      const addresses = hosts.map((host, index) => (index === replica ? deadHost : host));
      dns.publish(hostName, addresses);
    };
    replaceAddress(undefined);
    const restUrl = `http://${hostName}:${port}`;
    const feedUrl = replicas.map((replica) => replica.feedUrl).join(",");
    return { name, replicas, proxies, replaceAddress, restUrl, graphqlUrl: `${restUrl}/graphql`, feedUrl };
  }

  const services = await Promise.all(serviceNames.map(startService));
  await truncateAndSeed({ urls: databaseUrls, scale: 1, progress: () => {} });
  const gateway = await startReplica("gateway 1", "gateway", {
    ...{ SUPERGRAPH_FILE: supergraph, SETTINGS_FILE: join(root, "supergraph/gateway.yaml") },
    ...{ ...endpointKeys, ...gatewayVariables(services), ...dns.environment },
  });
  const restProxy = await startReplica("rest-proxy 1", "rest-proxy", {
    ...{ ROUTES_FILE: join(root, "supergraph/routes.json"), OPENAPI_FOLDER: join(root, "supergraph/openapi") },
    ...{ ...endpointKeys, ...restProxyVariables(services), ...dns.environment },
  });
  const users = services.find(({ name }) => name === "users");
  if (!users) throw new Error("users does not run");
  const rightSupergraph = readFileSync(supergraph, "utf8");
  return {
    ...{ issuer, postgres, services, users, gateway, restProxy },
    publish: (text = rightSupergraph) => replaceFile(supergraph, text),
  };
}

/** Migrated. By the name of the service. */
async function createDatabases(postgres: PlatformPostgres): Promise<Readonly<Record<string, string>>> {
  const urls: Record<string, string> = {};
  for (const name of serviceNames) {
    const databaseUrl = await postgres.createDatabase(name);
    await migrate({ databaseUrl, directory: join(root, "services", name, "migrations"), log: silentLog });
    urls[name] = databaseUrl;
  }
  return urls;
}
