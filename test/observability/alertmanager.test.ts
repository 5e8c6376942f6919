import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { alerts, readText, readYaml } from "./files.ts";

interface Route {
  readonly receiver: string;
  readonly matchers?: readonly string[];
  readonly group_by?: readonly string[];
  readonly routes?: readonly Route[];
}

interface Inhibition {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal?: readonly string[];
}

interface Settings {
  readonly route: Route;
  readonly inhibit_rules: readonly Inhibition[];
  readonly receivers: readonly Readonly<Record<string, unknown>>[];
}

interface Container {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
}

const folder = "infra/observability/alertmanager";
// start.sh concatenates the files to one document without duplicate keys.
const settings = parse(readText(`${folder}/routes.yml`) + readText(`${folder}/receivers/receivers.yml`)) as Settings;
const { services } = readYaml("docker-compose.observability.yml") as {
  readonly services: Readonly<Record<string, Container>>;
};

test("alerts are grouped by name and unit", () => {
  expect(settings.route.group_by).toEqual(["alertname", "unit"]);
});

test("each severity has a receiver that every receivers file must define, and the default receivers send nothing", () => {
  const receivers = [settings.route, ...(settings.route.routes ?? [])].map(({ receiver }) => receiver);
  expect(new Set(receivers)).toEqual(new Set(alerts.map(({ labels }) => labels?.["severity"])));
  expect(settings.receivers).toEqual([{ name: "page" }, { name: "ticket" }]);
  expect(settings.route.routes?.map(({ matchers }) => matchers)).toEqual([['severity="page"']]);
});

test("inhibition rules name existing alerts only", () => {
  const names = alerts.map(({ alert }) => alert);
  for (const { source_matchers: sources, target_matchers: targets } of settings.inhibit_rules)
    for (const matcher of [...sources, ...targets].filter((one) => one.startsWith("alertname"))) {
      const pattern = /^alertname!?=~?"(.+)"$/.exec(matcher)?.[1] ?? "";
      expect(
        names.some((name) => new RegExp(`^(${pattern})$`).test(name)),
        matcher,
      ).toBe(true);
    }
});

test("UnitDown inhibits the other alerts of the same unit only", () => {
  expect(settings.inhibit_rules[0]).toEqual({
    source_matchers: ['alertname="UnitDown"'],
    target_matchers: ['alertname!="UnitDown"'],
    equal: ["unit"],
  });
});

test("in compose Alertmanager reads the repository's routes and the operator's receivers, and listens on loopback only", () => {
  expect(services["alertmanager"]?.entrypoint).toEqual(["sh", "/etc/alertmanager/start.sh"]);
  expect(services["alertmanager"]?.volumes).toEqual([
    `./${folder}:/etc/alertmanager:ro`,
    `\${ALERT_RECEIVERS:-./${folder}/receivers}:/etc/alertmanager/receivers:ro`,
    "alertmanager:/alertmanager",
  ]);
  for (const { ports = [] } of Object.values(services))
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
});

test("in compose the runbook URL of an alert leads to a page that Prometheus serves, unless RUNBOOKS_URL is set", () => {
  const { environment, command, volumes, ports } = services["prometheus"] ?? {};
  const [, address = ""] = /^\$\{RUNBOOKS_URL:-(.+)\}$/.exec(environment?.["RUNBOOKS_URL"] ?? "") ?? [];
  const { host, pathname } = new URL(address);
  expect(ports).toEqual([`127.0.0.1:\${PROMETHEUS_PORT:-${host.split(":")[1]}}:9090`]);
  // Prometheus serves this folder at /user. Version 2 expands variables in labels only with this feature flag.
  expect(command).toEqual(
    expect.arrayContaining(["--web.user-assets=/docs", "--enable-feature=expand-external-labels"]),
  );
  expect(volumes).toContain("./docs:/docs:ro");
  const docs = fileURLToPath(new URL("../../docs", import.meta.url));
  expect(existsSync(`${docs}${pathname.replace(/^\/user/, "")}/no-replica-up.md`)).toBe(true);
});
