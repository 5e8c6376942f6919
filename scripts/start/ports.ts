import { type Environment, readEnvironment } from "@tributary/kit/process/env";
import { feedPortOf } from "@tributary/kit/feed/feed-config";
import { isPortFree } from "@tributary/kit/process/free-port";
import { isService, type PartName, portOf, parts, type Ports, postgresPort } from "./parts.ts";

interface PortChoice {
  readonly name: PartName;
  readonly variable: string;
  readonly fallback: number;
}

const portChoices: readonly PortChoice[] = [
  ...parts.map(({ name, portVariable, defaultPort }) => ({ name, variable: portVariable, fallback: defaultPort })),
  { name: "postgres", variable: postgresPort.variable, fallback: postgresPort.default },
];

const portMax = 65_535;
/** The change feed of a service listens this much higher than the service: 100. */
const feedPortOffset = feedPortOf(0);
/** Of the suggested port from a port in use: higher, or lower if that port is high. */
const suggestionDistance = 1_000;
const highPortMin = 60_000;

/** @throws ConfigError for a value that is not a port, and for two listeners on one port. */
export function readPorts(environment: Environment): Ports {
  return readEnvironment(environment, (env) => {
    const entries = portChoices.map(({ name, variable, fallback }) => {
      const why = `where ${name} listens on 127.0.0.1`;
      // The port of the change feed must be valid too.
      const max = isService(name) ? portMax - feedPortOffset : portMax;
      return [name, env.integer(variable, { fallback, min: 1, max, why })] as const;
    });
    const ports = Object.fromEntries(entries) as Ports;
    for (const [port, portTexts] of findSharedPorts(ports)) env.problem(`${portTexts.join(" and ")} are both ${port}.`);
    return ports;
  });
}

/** Each message names the variable that changes the port. */
export async function findPortProblems(names: readonly PartName[], ports: Ports): Promise<string[]> {
  const choices = portChoices.filter(({ name }) => names.includes(name));
  const listeners = choices.flatMap((choice) => listenersOf(choice, ports));
  const areFree = await Promise.all(listeners.map(({ port }) => isPortFree(port)));
  const blocked = listeners.filter((_listener, index) => !areFree[index]);
  return blocked.map(({ label, port, variable, nextPort }) => {
    return `Port ${port} (${label}) is in use. Free it, or choose another port: ${variable}=${nextPort} npm start`;
  });
}

interface PartListener {
  readonly label: string;
  readonly port: number;
  readonly variable: string;
  /** `USERS_PORT` or `USERS_PORT + 100`. */
  readonly portText: string;
  readonly nextPort: number;
}

/** A service has two listeners: the port of its change feed follows from its own port. */
function listenersOf({ name, variable }: PortChoice, ports: Ports): readonly PartListener[] {
  const port = portOf(ports, name);
  const nextPort = port < highPortMin ? port + suggestionDistance : port - suggestionDistance;
  const partListener: PartListener = { label: name, port, variable, portText: variable, nextPort };
  if (!isService(name)) return [partListener];
  const feedPort = { port: feedPortOf(port), portText: `${variable} + ${feedPortOffset}` };
  return [partListener, { ...partListener, label: `the change feed of ${name}`, ...feedPort }];
}

function findSharedPorts(ports: Ports): [port: number, portTexts: readonly string[]][] {
  const listeners = portChoices.flatMap((choice) => listenersOf(choice, ports));
  const shared = [...Map.groupBy(listeners, ({ port }) => port)].filter(([, atPort]) => atPort.length > 1);
  return shared.map(([port, atPort]) => [port, atPort.map(({ portText }) => portText)]);
}
