import { AppError } from "@tributary/kit/errors/app-error";
import { writeProblem } from "@tributary/kit/http/problem";
import { startServer } from "@tributary/kit/process/lifecycle";
import { runMain, stopOnSignals } from "@tributary/kit/process/main";
import { warnOfMisspeltVariables } from "@tributary/kit/process/misspelt-variables";
import { startMetricsListener } from "@tributary/kit/telemetry/admin-server";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createTelemetry } from "@tributary/kit/telemetry/telemetry";
import { readConfig } from "./config.ts";
import { announce, createPurgerObserver } from "./purger-telemetry.ts";
import { createPurger } from "./purger.ts";

/** The listener serves only /health. */
await runMain(async () => {
  const config = readConfig(process.env);
  const telemetry = await createTelemetry({ name: "purger", declarations: metricsOf.purger, config });
  const { log, metrics } = telemetry;
  warnOfMisspeltVariables(log, config.misspeltVariables);
  const caches = config.targets.map(({ url }) => url);
  const services = Object.keys(config.feedUrls);
  const purger = createPurger({ ...config, observe: createPurgerObserver(log, metrics, services) });
  announce(metrics, { caches, services }, purger);
  const admin = await startMetricsListener(config, telemetry);
  const server = await startServer({
    name: "purger",
    host: config.host,
    port: config.port,
    drainDelayMs: config.drainDelayMs,
    shutdownGraceMs: config.shutdownGraceMs,
    handler: (_, response) => writeProblem(response, new AppError("NOT_FOUND", "The purger serves only /health."), {}),
    log,
    isReady: () => purger.isReady(),
    readinessFields: () => config.build,
    async close() {
      await purger.close();
      await admin?.close();
    },
  });
  admin?.reportReadiness(server.readiness);
  stopOnSignals([server], log);
  log.info({ url: server.url, caches, services }, "listening");
});
