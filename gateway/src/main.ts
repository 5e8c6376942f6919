// The gateway's process: a command, or the gateway with its listener.
import { enableCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";
import { ConfigError } from "@tributary/kit/process/env";
import { startServer } from "@tributary/kit/process/lifecycle";
import { runMain, stopOnSignals } from "@tributary/kit/process/main";
import manifest from "../package.json" with { type: "json" };
import { assembleGateway } from "./assembly.ts";
import { settingsFileOf } from "./config.ts";
import { overloadedResponse } from "./paths/rejected-response.ts";
import type { Gateway } from "./server.ts";
import { validateSettings } from "./settings/validate.ts";

// Lets V8's young generation grow in larger steps. With the default step, requests in flight move to the old generation and are collected late:
// on `npm run bench` heavy responses cost a sixth less with this flag, and 100 MB less.
setFlagsFromString("--semi-space-growth-factor=16");

// Halves the time to load Apollo's packages from the second start on. Has no effect if its folder is not writable.
enableCompileCache();

const environment = process.env;
const usage = `Usage: tributary-gateway [command]

Without a command it serves GraphQL on PORT (4000), configured by environment variables (README.md).
SUPERGRAPH_FILE or SUPERGRAPH_URL is required; SETTINGS_FILE names gateway.yaml.

  validate [gateway.yaml]   checks variables and settings: every problem with its line, and exit status 1
  compose                   composes the schemas of subgraphs to a supergraph
  --version                 prints the version
  --help                    prints this
`;

await runMain(serve, {
  validate: ([path]) => validate(path),
  "--version": () => `${manifest.version}\n`,
  "--help": () => usage,
});

/** @throws ConfigError with every problem. */
function validate(path = settingsFileOf(environment)): string {
  const notes: string[] = [];
  const problems = validateSettings(environment, path, (note) => notes.push(`note: ${note}\n`));
  if (problems.length > 0) throw new ConfigError(problems);
  return `${notes.join("")}The settings are valid.\n`;
}

async function serve(): Promise<void> {
  const { config, gateway, telemetry, admin, close } = await assembleGateway(environment);
  const { log } = telemetry;
  const server = await startServer({
    name: "gateway",
    handler: gateway.handler,
    prepare: gateway.prepare,
    incompleteRequests: gateway.incompleteRequests,
    heldRejections: gateway.heldRejections,
    host: config.host,
    port: config.port,
    log,
    isReady: gateway.isReady,
    drainDelayMs: config.drainDelayMs,
    shutdownGraceMs: config.shutdownGraceMs,
    requestsInFlightMax: config.requestsInFlightMax,
    overloadedResponse,
    overloadedHeaders: gateway.overloadedHeaders,
    // Above REQUESTS_IN_FLIGHT_MAX a request is rejected before it is read, so its priority is unknown.
    onOverloaded: () => telemetry.admissionObserver?.onRejected("unread"),
    readinessFields: () => ({ ...config.build, ...describeSupergraph(gateway) }),
    readState: gateway.readState,
    servesStatus: config.profile === "development",
    close,
  });
  admin?.reportReadiness(server.readiness);
  admin?.reportStatus(server.status);
  stopOnSignals([server], log);
  log.info({ url: server.url }, "listening");
}

function describeSupergraph({ supergraphId, supergraphStatus }: Gateway): Readonly<Record<string, string>> {
  const { staleSeconds } = supergraphStatus();
  const supergraph = supergraphId() ?? "none";
  return staleSeconds > 0 ? { supergraph, supergraphStaleSeconds: String(staleSeconds) } : { supergraph };
}
