import type { Rule } from "../house.ts";
import { isProductCode, refuseImports } from "../house.ts";

/** Who may write a log, count and trace. */
export const logRules: readonly Rule[] = [
  {
    name: "no-console",
    sentence: "Nothing writes to the console: a process logs JSON lines through @tributary/kit/log.",
    find: ({ modules }) =>
      modules
        .filter(({ path }) => isProductCode(path))
        .flatMap(({ path, uses }) =>
          uses
            .filter(({ text }) => /^(?:globalThis\.)?console\./.test(text))
            .map(({ text, line }) => ({ path, line, found: `calls ${text}` })),
        ),
  },
  {
    name: "one-logger",
    sentence: "Only kit/src/process/log.ts knows the logging library.",
    find: ({ modules }) =>
      refuseImports(
        modules.filter(({ path }) => isProductCode(path) && path !== "kit/src/process/log.ts"),
        ({ specifier, typeOnly }) => /^pino(?:-|\/|$)/.test(specifier) && !typeOnly,
      ),
  },
  {
    name: "one-telemetry",
    sentence: "Only kit/src/telemetry knows the libraries that count and trace: nothing else depends on what they are.",
    find: ({ modules }) =>
      refuseImports(
        modules.filter(({ path }) => isProductCode(path) && !path.startsWith("kit/src/telemetry/")),
        ({ specifier }) => /^(?:prom-client|@opentelemetry)(?:\/|$)/.test(specifier),
      ),
  },
  {
    name: "doors-log-in-telemetry",
    sentence: "In the gateway and the proxy nothing but telemetry writes a log: rooms emit observations.",
    find: ({ modules }) =>
      modules
        .filter(({ path }) => /^(?:gateway|rest-proxy)\/src\//.test(path) && isProductCode(path) && !mayLog(path))
        .flatMap(({ path, uses }) =>
          uses
            .filter(({ text }) => /(?:^|\.)(?:log|logger)\.(?:trace|debug|info|warn|error|fatal)$/.test(text))
            .map(({ text, line }) => ({ path, line, found: `calls ${text}` })),
        ),
  },
];

function mayLog(path: string): boolean {
  return /^(?:gateway|rest-proxy)\/src\/(?:telemetry\/.*|telemetry\.ts|main\.ts)$/.test(path);
}
