// Reads the ports of `npm start` and finds those that another process uses.
import { type Environment, readEnvironment } from "@tributary/kit/process/env";
import { isPortFree } from "@tributary/kit/process/free-port";
import { type PartName, parts, type Ports, postgresPort } from "./parts.ts";

interface PortChoice {
  readonly name: PartName | "postgres";
  readonly variable: string;
  readonly fallback: number;
}

const choices: readonly PortChoice[] = [
  ...parts.map(({ name, portVariable, defaultPort }) => ({ name, variable: portVariable, fallback: defaultPort })),
  { name: "postgres", variable: postgresPort.variable, fallback: postgresPort.default },
];

/**
 * Every part's port, from its variable.
 * @throws ConfigError for a value that is not a port, and for two parts on one port.
 */
export function readPorts(environment: Environment): Ports {
  return readEnvironment(environment, (env) => {
    const entries = choices.map(({ name, variable, fallback }) => {
      const why = `where ${name} listens on 127.0.0.1`;
      return [name, env.integer(variable, { fallback, min: 1, max: 65_535, why })] as const;
    });
    for (const [port, variables] of sharedPorts(entries)) env.problem(`${variables.join(" and ")} are both ${port}.`);
    return Object.fromEntries(entries) as Record<PartName | "postgres", number>;
  });
}

/** One message for each of these parts whose port another process uses. It names the variable that changes the port. */
export async function findTakenPorts(names: readonly (PartName | "postgres")[], ports: Ports): Promise<string[]> {
  const requested = choices.filter(({ name }) => names.includes(name));
  const free = await Promise.all(requested.map(({ name }) => isPortFree(ports[name])));
  return requested
    .filter((_, index) => !free[index])
    .map(({ name, variable }) => {
      const port = ports[name];
      return `Port ${port} (${name}) is in use. Free it, or choose another port: ${variable}=${port + 1_000} npm start`;
    });
}

function sharedPorts(entries: readonly (readonly [PartName | "postgres", number])[]): [number, string[]][] {
  const variables = new Map<number, string[]>();
  for (const [name, port] of entries) {
    const variable = choices.find((choice) => choice.name === name)?.variable ?? name;
    variables.set(port, [...(variables.get(port) ?? []), variable]);
  }
  return [...variables].filter(([, sharing]) => sharing.length > 1);
}
