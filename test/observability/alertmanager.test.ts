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
// As start.sh puts them together: one document, no key twice.
const settings = parse(readText(`${folder}/routes.yml`) + readText(`${folder}/receivers/receivers.yml`)) as Settings;
const { services } = readYaml("docker-compose.observability.yml") as {
  readonly services: Readonly<Record<string, Container>>;
};

test("alerts are put together by what they say and the unit that they are about", () => {
  expect(settings.route.group_by).toEqual(["alertname", "unit"]);
});

test("each severity has a receiver, which every operator's file has to name, and ours tells nobody", () => {
  const receivers = [settings.route, ...(settings.route.routes ?? [])].map(({ receiver }) => receiver);
  expect(new Set(receivers)).toEqual(new Set(alerts.map(({ labels }) => labels?.["severity"])));
  expect(settings.receivers).toEqual([{ name: "page" }, { name: "ticket" }]);
  expect(settings.route.routes?.map(({ matchers }) => matchers)).toEqual([['severity="page"']]);
});

test("what silences and what is silenced are alerts that there are", () => {
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

test("a unit of which nothing is left silences whatever else is said of it, and no other unit", () => {
  expect(settings.inhibit_rules[0]).toEqual({
    source_matchers: ['alertname="UnitGone"'],
    target_matchers: ['alertname!="UnitGone"'],
    equal: ["unit"],
  });
});

test("in compose it reads our routes and the receivers of whoever runs it, and is published on this machine alone", () => {
  expect(services["alertmanager"]?.entrypoint).toEqual(["sh", "/etc/alertmanager/start.sh"]);
  expect(services["alertmanager"]?.volumes).toEqual([
    `./${folder}:/etc/alertmanager:ro`,
    `\${ALERT_RECEIVERS:-./${folder}/receivers}:/etc/alertmanager/receivers:ro`,
    "alertmanager:/alertmanager",
  ]);
  for (const { ports = [] } of Object.values(services))
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
});

test("in compose an alert leads to a page that Prometheus shows, unless it is said to be elsewhere", () => {
  const { environment, command, volumes, ports } = services["prometheus"] ?? {};
  const [, address = ""] = /^\$\{RUNBOOKS_URL:-(.+)\}$/.exec(environment?.["RUNBOOKS_URL"] ?? "") ?? [];
  const { host, pathname } = new URL(address);
  expect(ports).toEqual([`127.0.0.1:\${PROMETHEUS_PORT:-${host.split(":")[1]}}:9090`]);
  // Prometheus shows this folder below /user, and version 2 puts variables into labels only when it is told to.
  expect(command).toEqual(
    expect.arrayContaining(["--web.user-assets=/docs", "--enable-feature=expand-external-labels"]),
  );
  expect(volumes).toContain("./docs:/docs:ro");
  const docs = fileURLToPath(new URL("../../docs", import.meta.url));
  expect(existsSync(`${docs}${pathname.replace(/^\/user/, "")}/no-replica-up.md`)).toBe(true);
});
