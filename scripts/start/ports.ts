// Reads the ports of `npm start` and finds those that another process uses.
import { type Environment, readEnvironment } from "@tributary/kit/process/env";
import { feedPortOf } from "@tributary/kit/feed/feed-config";
import { isPortFree } from "@tributary/kit/process/free-port";
import { isService, type PartName, portOf, parts, type Ports, postgresPort } from "./parts.ts";

interface PortChoice {
  readonly name: PartName;
  readonly variable: string;
  readonly fallback: number;
}

const choices: readonly PortChoice[] = [
  ...parts.map(({ name, portVariable, defaultPort }) => ({ name, variable: portVariable, fallback: defaultPort })),
  { name: "postgres", variable: postgresPort.variable, fallback: postgresPort.default },
];

const portMax = 65_535;

/**
 * Every part's port, from its variable.
 * @throws ConfigError for a value that is not a port, and for two listeners on one port.
 */
export function readPorts(environment: Environment): Ports {
  return readEnvironment(environment, (env) => {
    const entries = choices.map(({ name, variable, fallback }) => {
      const why = `where ${name} listens on 127.0.0.1`;
      // The change feed of a service listens 100 ports higher, and that port must be valid too.
      const max = isService(name) ? portMax - feedPortOf(0) : portMax;
      return [name, env.integer(variable, { fallback, min: 1, max, why })] as const;
    });
    const ports = Object.fromEntries(entries) as Ports;
    for (const [port, texts] of sharedPorts(ports)) env.problem(`${texts.join(" and ")} are both ${port}.`);
    return ports;
  });
}

/** One message for each port of these parts that another process uses. It names the variable that changes the port. */
export async function findPortProblems(names: readonly PartName[], ports: Ports): Promise<string[]> {
  const requested = choices.filter(({ name }) => names.includes(name)).flatMap((choice) => listenersOf(choice, ports));
  const free = await Promise.all(requested.map(({ port }) => isPortFree(port)));
  return requested
    .filter((_, index) => !free[index])
    .map(({ label, port, variable, nextPort }) => {
      return `Port ${port} (${label}) is in use. Free it, or choose another port: ${variable}=${nextPort} npm start`;
    });
}

interface PartListener {
  readonly label: string;
  readonly port: number;
  /** The variable that determines the port. */
  readonly variable: string;
  /** How the variable determines the port: `USERS_PORT` or `USERS_PORT + 100`. */
  readonly portText: string;
  /** The value of the variable that the error message suggests. */
  readonly nextPort: number;
}

/** A service has two listeners: the port of its change feed follows from its own port. */
function listenersOf({ name, variable }: PortChoice, ports: Ports): readonly PartListener[] {
  const port = portOf(ports, name);
  const own = {
    label: name,
    port,
    variable,
    portText: variable,
    nextPort: port < 60_000 ? port + 1_000 : port - 1_000,
  };
  if (!isService(name)) return [own];
  const portText = `${variable} + ${feedPortOf(0)}`;
  return [own, { ...own, label: `the change feed of ${name}`, port: feedPortOf(port), portText }];
}

function sharedPorts(ports: Ports): [number, string[]][] {
  const texts = new Map<number, string[]>();
  for (const { port, portText } of choices.flatMap((choice) => listenersOf(choice, ports)))
    texts.set(port, [...(texts.get(port) ?? []), portText]);
  return [...texts].filter(([, sharing]) => sharing.length > 1);
}
