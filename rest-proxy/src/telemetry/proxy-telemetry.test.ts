import { fileURLToPath } from "node:url";
import { onTestFinished, expect, test } from "vitest";
import { loadRoutes } from "../route/routes.ts";
import { createProxyTelemetry } from "./proxy-telemetry.ts";

const routes = loadRoutes(fileURLToPath(new URL("../../../supergraph/routes.json", import.meta.url)));
const oldRoutes = new Set(
  routes.flatMap(({ path, versions }) => versions.filter((version) => version < 2).map(() => path)),
);

test("clients that are not configured have zeros for each old route, however many clients are configured", async () => {
  const telemetry = await createProxyTelemetry(
    {
      adminPort: 0,
      adminHost: "127.0.0.1",
      accessLog: "off",
      tracing: { endpoint: undefined, serviceName: "rest-proxy", sampler: "always_off", ratio: 0 },
      build: { version: "1", revision: "1" },
      logLevel: "silent",
      knownClients: Array.from({ length: 100 }, (_, number) => `client-${number}`),
    },
    routes,
  );
  const admin = await telemetry.startAdmin();
  onTestFinished(async () => {
    await admin?.drain();
    await telemetry.stop();
  });
  const text = await (await fetch(`${admin?.url}/metrics`)).text();
  for (const client of ["other", "unnamed"])
    for (const route of oldRoutes)
      expect(text).toContain(
        `tributary_rest_old_version_requests_total{client="${client}",version="1",route="${route}"} 0\n`,
      );
});
