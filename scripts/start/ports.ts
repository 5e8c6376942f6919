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
 * @throws ConfigError for one that is no port, and for two parts on one port.
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

/** One sentence for each of these parts whose port somebody else holds, naming the variable that moves it. */
export async function findTakenPorts(names: readonly (PartName | "postgres")[], ports: Ports): Promise<string[]> {
  const asked = choices.filter(({ name }) => names.includes(name));
  const free = await Promise.all(asked.map(({ name }) => isPortFree(ports[name])));
  return asked
    .filter((_, index) => !free[index])
    .map(({ name, variable }) => {
      const port = ports[name];
      return `Port ${port} (${name}) is taken. Free it, or choose another: ${variable}=${port + 1_000} npm start`;
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
