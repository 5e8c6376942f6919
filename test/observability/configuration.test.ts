// The files of infra/observability agree with each other, with the compose files, and with the runbooks.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { serviceNames, services as platformServices } from "../services.ts";
import {
  alerts,
  type Dashboard,
  dashboards,
  groupNames,
  listFiles,
  promqlBlocks,
  queries,
  readText,
  readYaml,
  recordings,
} from "./files.ts";

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

interface Scrape {
  readonly job_name: string;
  readonly dns_sd_configs?: readonly {
    readonly names: readonly string[];
    readonly type: string;
    readonly port: number;
  }[];
}

interface Relabeling {
  readonly source_labels: readonly string[];
  readonly regex: string;
  readonly target_label: string;
  readonly replacement: string;
}

interface Alerting {
  readonly alert_relabel_configs: readonly Relabeling[];
}

interface Container {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Container>>;
}

const { services } = readYaml("docker-compose.yml") as Compose;
const { services: observed } = readYaml("docker-compose.observability.yml") as Compose;
const alertmanagerFolder = "infra/observability/alertmanager";
// start.sh concatenates the files to one document without duplicate keys.
const settings = parse(
  readText(`${alertmanagerFolder}/routes.yml`) + readText(`${alertmanagerFolder}/receivers/receivers.yml`),
) as Settings;
const { scrape_configs: scrapes } = readYaml("infra/observability/prometheus.yml") as {
  readonly scrape_configs: readonly Scrape[];
};

describe("rules and runbooks", () => {
  test("the names of alerts and groups are unique", () => {
    expect(alerts.length).toBeGreaterThan(20);
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    expect(new Set(groupNames).size).toBe(groupNames.length);
  });

  test("no two recording rules record the same series", () => {
    const series = recordings.map(({ record, labels }) => `${record} ${JSON.stringify(labels)}`);
    expect(new Set(series).size).toBe(series.length);
  });

  test("every alert has a severity, a unit and a runbook", () => {
    for (const { alert, labels, annotations, for: duration } of alerts) {
      expect(["page", "ticket"], alert).toContain(labels?.["severity"]);
      expect(labels?.["unit"], alert).toMatch(
        /^\{\{.*(job|endpoint|subgraph|service|persistentvolumeclaim)|^(gateway|rest-proxy|rate-limit-store|purger)$/,
      );
      expect(duration, alert).toMatch(/^\d+[mh]$/);
      expect(annotations?.["summary"], alert).toMatch(/^[A-Z{]/);
      expect(pageOf(annotations), alert).toBeDefined();
    }
  });

  const pages = listFiles("docs/runbooks/*.md").filter((path) => !path.endsWith("/README.md"));
  /** Runbooks of symptoms without an alert; other runbooks link to them. */
  const pagesWithoutAlert = ["docs/runbooks/frozen-replica.md"];

  test("every alert has a runbook, and every runbook has an alert", () => {
    const linked = new Set(alerts.map(({ annotations }) => `docs/runbooks/${pageOf(annotations)}`));
    expect([...linked, ...pagesWithoutAlert].toSorted()).toEqual(pages);
  });

  test("the runbooks without an alert are linked from the list and from another runbook", () => {
    for (const path of pagesWithoutAlert) {
      const linking = listFiles("docs/runbooks/*.md").filter((page) => readText(page).includes(`](${basename(path)})`));
      expect(linking).toContain("docs/runbooks/README.md");
      expect(linking.length).toBeGreaterThan(1);
    }
  });

  const sections = [
    "What fires and why",
    "Impact on clients",
    "First three things to do",
    "Check",
    "Mitigate",
    "How do I know it is over",
    "Background",
  ];

  test("every runbook has every section, three first steps, and PromQL queries", () => {
    for (const path of pages) {
      const parts = readText(path).split(/^## /m).slice(1);
      expect(
        parts.map((part) => part.split("\n", 1)[0]),
        path,
      ).toEqual(sections);
      const [, , first = "", check = "", , over = ""] = parts;
      expect(first.match(/^\d\. /gm), path).toEqual(["1. ", "2. ", "3. "]);
      for (const part of [check, over]) expect(part, path).toContain("```promql\n");
    }
  });

  test("every query of a runbook is in a PromQL block, so that it is checked", () => {
    expect(promqlBlocks.length).toBeGreaterThan(2 * pages.length);
    for (const path of [...pages, "docs/runbooks/README.md"]) {
      const others = readText(path).replaceAll(/```promql\n[^]*?```/g, "");
      expect(others, path).not.toMatch(/\b(tributary_\w+|process_\w+_seconds\w*|nodejs_\w+)[{[]/);
    }
  });

  test("every runbook names its alerts, and the list links to it", () => {
    const list = readText("docs/runbooks/README.md");
    for (const { alert, annotations } of alerts) {
      const page = pageOf(annotations) ?? "";
      expect(readText(`docs/runbooks/${page}`), page).toContain(`\`${alert}\``);
      expect(list).toContain(`](${page})`);
    }
  });

  test("the runbooks name existing alerts only", () => {
    const names = new Set(alerts.map(({ alert }) => alert));
    for (const path of listFiles("docs/runbooks/*.md")) {
      const [, heading = ""] = /^Alerts?: (.+)$/m.exec(readText(path)) ?? [];
      for (const [, name = ""] of heading.matchAll(/`(\w+)`/g)) expect(names, path).toContain(name);
    }
  });

  const errorRatio = "tributary:service_level_error:ratio_rate";
  const windows = ["5m", "30m", "1h", "2h", "6h", "1d", "3d"];
  const levels = recordings
    .filter(({ record }) => record === "tributary:service_level_budget:ratio")
    .map(({ labels }) => `${labels?.["endpoint"]} ${labels?.["level"]}`);

  test("the gateway and the REST proxy each have a service level for availability and one for latency", () => {
    expect(levels).toEqual(
      expect.arrayContaining([
        "gateway availability",
        "gateway latency",
        "rest-proxy availability",
        "rest-proxy latency",
      ]),
    );
  });

  test.each(levels)("%s is recorded for every window with the same expression", (level) => {
    const rules = recordings.filter(
      ({ record, labels }) => record.startsWith(errorRatio) && `${labels?.["endpoint"]} ${labels?.["level"]}` === level,
    );
    expect(rules.map(({ record }) => record.slice(errorRatio.length))).toEqual(windows);
    const inWindow = ({ record, expr }: (typeof rules)[number]) =>
      expr.replaceAll(`[${record.slice(errorRatio.length)}]`, "[…]");
    expect(new Set(rules.map(inWindow)).size).toBe(1);
    expect(rules.map(inWindow).join()).not.toMatch(/\[\d/);
  });

  /** Long window, short window and burn rate: Site Reliability Workbook, chapter 5, table 5-8. */
  test.each([
    ["ServiceLevelBurnsFast", "1h", "5m", "14.4"],
    ["ServiceLevelBurnsFast", "6h", "30m", "6"],
    ["ServiceLevelBurnsSlowly", "1d", "2h", "3"],
    ["ServiceLevelBurnsSlowly", "3d", "6h", "1"],
  ])("%s fires if the error ratios of %s and %s exceed %s times the budget", (name, long, short, burnRate) => {
    const expr = alerts.find(({ alert }) => alert === name)?.expr.replaceAll(/\s+/g, " ");
    const above = (window: string) =>
      `(${errorRatio}${window} > on (endpoint, level) ${burnRate} * tributary:service_level_budget:ratio)`;
    expect(expr).toContain(`(${above(long)} and on (endpoint, level) ${above(short)})`);
  });

  test.each(["prometheus.yml", "prometheus-kubernetes.yml"])(
    "%s reads the rules, takes the runbooks' URL from a variable, and sends alerts to Alertmanager",
    (name) => {
      expect(readYaml(`infra/observability/${name}`)).toMatchObject({
        global: { external_labels: { runbooks: "${RUNBOOKS_URL}" } },
        rule_files: ["rules/*.yml"],
        alerting: {
          alertmanagers: [{ static_configs: [{ targets: [expect.stringMatching(/^alertmanager\b.*:9093$/)] }] }],
        },
      });
    },
  );

  test.each(["prometheus.yml", "prometheus-kubernetes.yml"])(
    "%s gives an alert about one service, or about its database, the team of its service.json",
    (name) => {
      const { alerting } = readYaml(`infra/observability/${name}`) as { readonly alerting: Alerting };
      const teamOf = (unit: string) => relabel(alerting.alert_relabel_configs, { unit })["team"];
      for (const { name: service, owner } of platformServices)
        for (const unit of [service, `${service}-db`, `${service}-db-1`]) expect(teamOf(unit), unit).toBe(owner);
      const others = ["gateway", "rest-proxy", "purger", "rate-limit-store", `${serviceNames[0]}s`];
      expect(others.map(teamOf)).toEqual(others.map(() => undefined));
    },
  );

  test("queries select histogram buckets by limits that Prometheus 2 and 3 format alike", () => {
    // Version 3 formats 1 as 1.0.
    const limits = queries.flatMap(({ expr }) => [...expr.matchAll(/\ble="([^"]*)"/g)].map(([, limit]) => limit));
    expect(limits).toContain("0.5");
    for (const limit of limits) expect(limit).toMatch(/^\d+\.\d+$|^\+Inf$/);
  });
});

describe("Alertmanager", () => {
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
    expect(observed["alertmanager"]?.entrypoint).toEqual(["sh", "/etc/alertmanager/start.sh"]);
    expect(observed["alertmanager"]?.volumes).toEqual([
      `./${alertmanagerFolder}:/etc/alertmanager:ro`,
      `\${ALERT_RECEIVERS:-./${alertmanagerFolder}/receivers}:/etc/alertmanager/receivers:ro`,
      "alertmanager:/alertmanager",
    ]);
    for (const { ports = [] } of Object.values(observed))
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test("in compose the runbook URL of an alert leads to a page that Prometheus serves, unless RUNBOOKS_URL is set", () => {
    const { environment, command, volumes, ports } = observed["prometheus"] ?? {};
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
});

describe("dashboards", () => {
  test("the gateway, the REST proxy, the services, the databases, overload and the service levels each have a dashboard", () => {
    expect(dashboards.map(([file]) => file)).toEqual([
      "databases.json",
      "gateway.json",
      "overload.json",
      "rest-proxy.json",
      "service-levels.json",
      "services.json",
    ]);
    expect(new Set(dashboards.map(([, { uid }]) => uid)).size).toBe(dashboards.length);
  });

  test.each(dashboards)("%s has panels with queries that do not overlap", (_, { panels }) => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { type, title, targets = [] } of panels) {
      expect(title).not.toBe("");
      expect(targets.length > 0, title).toBe(type !== "row");
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    }
    expect(overlaps(panels)).toEqual([]);
  });

  test.each(dashboards)("%s uses exactly the variables that it defines", (_, { templating, panels }) => {
    const used = panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr, datasource }) =>
        [...`${expr} ${datasource.uid}`.matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name),
      ),
    );
    expect(new Set(used)).toEqual(new Set(templating.list.map(({ name }) => name)));
  });

  test("Grafana is provisioned with the dashboards and their default data source", () => {
    const folder = "infra/observability/grafana/provisioning";
    expect(readYaml(`${folder}/dashboards/dashboards.yml`)).toMatchObject({
      providers: [{ type: "file", options: { path: "/etc/tributary/dashboards" } }],
    });
    expect(readYaml(`${folder}/datasources/datasources.yml`)).toMatchObject({
      datasources: [{ uid: "prometheus", type: "prometheus", url: "http://prometheus:9090", isDefault: true }, {}],
    });
  });
});

describe("scraping", () => {
  const units = [...serviceNames, "gateway", "rest-proxy"];

  test("Prometheus scrapes every address of each unit, with the unit's name as the job", () => {
    expect(scrapes.map(({ job_name: name }) => name)).toEqual([...units, "purger"]);
    for (const { job_name: name, dns_sd_configs: discovery } of scrapes.slice(0, units.length)) {
      expect(services).toHaveProperty(name);
      expect(observed[name]?.environment).toMatchObject({
        ADMIN_PORT: "9464",
        ADMIN_HOST: "0.0.0.0",
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
      });
      expect(discovery).toEqual([{ names: [name], type: "A", port: 9464, refresh_interval: "5s" }]);
    }
  });

  test("Prometheus scrapes the purger, whose profile is optional, at each of its addresses", () => {
    const { environment } = observed["purger"] ?? {};
    expect(environment).toMatchObject({ ADMIN_PORT: "9464", ADMIN_HOST: "0.0.0.0" });
    expect(scrapes.at(-1)?.dns_sd_configs).toEqual([
      { names: ["purger"], type: "A", port: 9464, refresh_interval: "30s" },
    ]);
  });

  test("in compose the folders are mounted at the paths that the configuration files refer to", () => {
    expect(observed["prometheus"]?.volumes).toContain("./infra/observability:/etc/prometheus:ro");
    expect(observed["grafana"]?.volumes).toContain("./infra/observability/grafana:/etc/tributary:ro");
    expect(observed["grafana"]?.environment).toMatchObject({ GF_PATHS_PROVISIONING: "/etc/tributary/provisioning" });
  });

  test("in compose the collector exports traces to Jaeger by default", () => {
    expect(observed["collector"]?.environment).toEqual({ TRACES_ENDPOINT: "${TRACES_ENDPOINT:-jaeger:4317}" });
    expect(readText("infra/observability/collector.yml")).toContain("endpoint: ${env:TRACES_ENDPOINT:-jaeger:4317}");
    expect(observed).toHaveProperty("jaeger");
  });

  test("in Kubernetes Prometheus scrapes the pods' admin port, and names jobs and replicas as in compose", () => {
    const { scrape_configs: inCluster } = readYaml("infra/observability/prometheus-kubernetes.yml") as {
      readonly scrape_configs: readonly { readonly relabel_configs: readonly object[] }[];
    };
    expect(inCluster[0]?.relabel_configs).toEqual([
      { source_labels: ["__meta_kubernetes_pod_phase"], regex: "Failed|Succeeded", action: "drop" },
      { source_labels: ["__meta_kubernetes_pod_container_port_name"], regex: "admin", action: "keep" },
      { source_labels: ["__meta_kubernetes_pod_label_app_kubernetes_io_name"], target_label: "job" },
      { source_labels: ["__meta_kubernetes_pod_name"], target_label: "instance" },
      { source_labels: ["__meta_kubernetes_namespace"], target_label: "namespace" },
      { source_labels: ["__meta_kubernetes_pod_name"], target_label: "pod" },
    ]);
  });

  test("in Kubernetes Prometheus scrapes each database's exporter, with the cluster's name as the job", () => {
    const { scrape_configs: inCluster } = readYaml("infra/observability/prometheus-kubernetes.yml") as {
      readonly scrape_configs: readonly { readonly job_name: string; readonly relabel_configs: readonly object[] }[];
    };
    expect(inCluster.find(({ job_name: name }) => name === "databases")?.relabel_configs).toEqual([
      { source_labels: ["__meta_kubernetes_pod_phase"], regex: "Failed|Succeeded", action: "drop" },
      { source_labels: ["__meta_kubernetes_pod_label_cnpg_io_cluster"], regex: ".+", action: "keep" },
      { source_labels: ["__meta_kubernetes_pod_container_port_name"], regex: "metrics", action: "keep" },
      { source_labels: ["__meta_kubernetes_pod_label_cnpg_io_cluster"], target_label: "job" },
      { source_labels: ["__meta_kubernetes_pod_name"], target_label: "instance" },
    ]);
  });

  test("the collector defines every component of its pipelines, and receives OTLP over HTTP", () => {
    const collector = readYaml("infra/observability/collector.yml") as {
      readonly receivers: object;
      readonly processors: object;
      readonly exporters: object;
      readonly service: {
        readonly pipelines: Readonly<
          Record<string, Record<"receivers" | "processors" | "exporters", readonly string[]>>
        >;
      };
    };
    for (const pipeline of Object.values(collector.service.pipelines))
      for (const part of ["receivers", "processors", "exporters"] as const)
        expect(Object.keys(collector[part])).toEqual(expect.arrayContaining([...pipeline[part]]));
    expect(collector.receivers).toEqual({ otlp: { protocols: { http: { endpoint: "0.0.0.0:4318" } } } });
  });
});

/** The file name at the end of an alert's runbook URL. */
function pageOf(annotations: Readonly<Record<string, string>> = {}): string | undefined {
  return /^\{\{ \$externalLabels\.runbooks \}\}\/([\w-]+\.md)$/.exec(annotations["runbook_url"] ?? "")?.[1];
}

/** The titles of panels that overlap, or exceed Grafana's 24 columns. */
function overlaps(panels: Dashboard["panels"]): readonly string[] {
  const taken = new Map<string, string>();
  return panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
    const cells = Array.from({ length: w * h }, (__, index) => `${x + (index % w)}:${y + Math.floor(index / w)}`);
    const isMisplaced = x + w > 24 || cells.some((cell) => taken.has(cell));
    for (const cell of cells) taken.set(cell, title);
    return isMisplaced ? [title] : [];
  });
}

/** Prometheus' relabeling with its default action: `regex` has to match the whole value. */
function relabel(
  rules: readonly Relabeling[],
  labels: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const current = { ...labels };
  for (const { source_labels: sources, regex, target_label: target, replacement } of rules) {
    const value = sources.map((label) => current[label] ?? "").join(";");
    if (new RegExp(`^(?:${regex})$`).test(value)) current[target] = replacement;
  }
  return current;
}
