import type { Rule } from "../repository.ts";
import { isProductCode, findImports } from "../repository.ts";

/** The modules that may write logs, metrics and traces. */
export const logRules: readonly Rule[] = [
  {
    name: "no-console",
    sentence: "No code writes to the console: a process logs JSON lines through @tributary/kit/process/log.",
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
    sentence: "Only kit/src/process/log.ts imports the logging library.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => isProductCode(path) && path !== "kit/src/process/log.ts"),
        ({ specifier, typeOnly }) => /^pino(?:-|\/|$)/.test(specifier) && !typeOnly,
      ),
  },
  {
    name: "one-telemetry",
    sentence: "Only kit/src/telemetry imports the metrics and tracing libraries.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => isProductCode(path) && !path.startsWith("kit/src/telemetry/")),
        ({ specifier }) => /^(?:prom-client|@opentelemetry)(?:\/|$)/.test(specifier),
      ),
  },
  {
    name: "stages-report-observations",
    sentence: "In the gateway and the REST proxy only telemetry writes logs: other modules report observations.",
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
