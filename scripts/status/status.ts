// `npm run status`: the state of all processes on one screen.
import { fileURLToPath } from "node:url";
import type { Environment } from "@tributary/kit/process/env";
import type { ProcessStatus } from "@tributary/kit/process/process-status";
import { formatSeconds, summarizeState } from "@tributary/kit/process/status-summary";
import { CommandError, parseCommandLine, runCommand } from "../command-line.ts";
import { dataFolder, parts, portOf, urlOf } from "../start/parts.ts";
import { findStartedNames } from "../start/run-file.ts";
import { readPorts } from "../start/ports.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const usage = `Usage: npm run status [-- options]

The state of the processes that "npm start" has started, with its ports (GATEWAY_PORT and so on). The exit code is 1 if a process, a replica or a
change feed is down, a service has no healthy replica, a supergraph was rejected, a migration is pending, or the rate limit store is
unavailable.

  --url URL   a process by its admin port instead, such as http://127.0.0.1:9464; can be repeated
  --json      the whole state as JSON
  --help      prints this
`;

export interface StatusOptions {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly write: (text: string) => void;
}

interface Target {
  readonly name: string;
  readonly url: string;
  /** Of a process without a status, such as an external service. */
  readonly readyPath: string;
}

type Reading = Target & ({ readonly status: ProcessStatus } | { readonly status: undefined; readonly reason: string });

const timeoutMs = 6_000;

/** @returns the exit code. @throws CommandError for an invalid command line. */
export async function showStatus({ args, environment, write }: StatusOptions): Promise<number> {
  const { values } = parseCommandLine(
    {
      args: [...args],
      options: {
        url: { type: "string", multiple: true },
        json: { type: "boolean" },
        help: { type: "boolean" },
      },
    },
    usage,
  );
  const targets = values.url?.map(toTarget) ?? listParts(environment);
  const readings = await Promise.all(targets.map(read));
  if (values.json) write(`${JSON.stringify(readings.map(toJson), undefined, 2)}\n`);
  else write(readings.map(render).join("\n"));
  return readings.some(isDown) ? 1 : 0;
}

function toTarget(text: string): Target {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url?.protocol.startsWith("http"))
    throw new CommandError(`--url ${text} is not an http(s) URL.\n\n${usage}`, { exitCode: 2 });
  return { name: url.host, url: url.origin, readyPath: "/health/ready" };
}

function listParts(environment: Environment): readonly Target[] {
  const ports = readPorts(environment);
  const started = findStartedNames(dataFolder(root, environment));
  const expected = parts.filter(({ name }) => started === undefined || started.includes(name));
  return expected.map(({ name, external }) => {
    return { name, url: urlOf(portOf(ports, name)), readyPath: external?.healthPath ?? "/health/ready" };
  });
}

async function read(target: Target): Promise<Reading> {
  try {
    const response = await get(`${target.url}/health/status`);
    if (response.ok) return { ...target, status: (await response.json()) as ProcessStatus };
    if (response.status !== 404) return { ...target, status: undefined, reason: `status ${response.status}` };
    const ready = await get(target.url + target.readyPath);
    const status = ready.ok ? "ready" : "not ready";
    // It says no more of itself.
    return { ...target, status: { process: target.name, status, uptimeSeconds: 0, version: "", revision: "" } };
  } catch (error) {
    const { cause, message } = error as Error;
    return { ...target, status: undefined, reason: cause instanceof Error ? cause.message : message };
  }
}

function get(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: "error" });
}

function isDown({ status }: Reading): boolean {
  return status?.status !== "ready" || summarizeState(status).some((line) => line.isDown);
}

function toJson(reading: Reading): object {
  const { name, url, status } = reading;
  return { url, ...(status ?? { process: name, status: "down", reason: reading.reason }) };
}

function render(reading: Reading): string {
  const { name, url, status } = reading;
  if (!status) return `! ${name}  DOWN  ${url}  ${reading.reason}\n`;
  const { process: process_, status: readiness, version, uptimeSeconds } = status;
  const isReady = readiness === "ready";
  const details = version === "" ? [] : [`version ${version}`, `up ${formatSeconds(uptimeSeconds)}`];
  const head = [process_, isReady ? "ready" : "NOT READY", url, ...details].join("  ");
  const lines = summarizeState(status);
  const width = Math.max(...lines.map(({ label }) => label.length));
  const rows = lines.map((line) => `${line.isDown ? "!" : " "}   ${line.label.padEnd(width)}  ${line.text}\n`);
  return `${isReady ? " " : "!"} ${head}\n${rows.join("")}`;
}

if (import.meta.main) {
  await runCommand(async () => {
    const write = (text: string) => void process.stdout.write(text);
    process.exitCode = await showStatus({ args: process.argv.slice(2), environment: process.env, write });
  });
}
