import { expect, test } from "vitest";
import { type Dashboard, dashboards, readYaml } from "./files.ts";

test("the gateway, the REST proxy, the services, the databases and the service levels each have a dashboard", () => {
  expect(dashboards.map(([file]) => file)).toEqual([
    "databases.json",
    "gateway.json",
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
