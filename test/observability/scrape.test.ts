import { expect, test } from "vitest";
import { readText, readYaml } from "./files.ts";

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly environment?: Readonly<Record<string, string>>; readonly volumes?: readonly string[] }>
  >;
}

interface Scrape {
  readonly job_name: string;
  readonly dns_sd_configs?: readonly {
    readonly names: readonly string[];
    readonly type: string;
    readonly port: number;
  }[];
}

const units = ["users", "posts", "comments", "orders", "gateway", "rest-proxy"];
const { services } = readYaml("docker-compose.yml") as Compose;
const { services: observed } = readYaml("docker-compose.observability.yml") as Compose;
const { scrape_configs: scrapes } = readYaml("infra/observability/prometheus.yml") as {
  readonly scrape_configs: readonly Scrape[];
};

test("Prometheus scrapes every address of each unit, with the unit's name as the job", () => {
  expect(scrapes.map(({ job_name: name }) => name)).toEqual(units);
  for (const { job_name: name, dns_sd_configs: discovery } of scrapes) {
    expect(services).toHaveProperty(name);
    expect(observed[name]?.environment).toMatchObject({
      ADMIN_PORT: "9464",
      ADMIN_HOST: "0.0.0.0",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
    });
    expect(discovery).toEqual([{ names: [name], type: "A", port: 9464, refresh_interval: "5s" }]);
  }
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
    { source_labels: ["__meta_kubernetes_pod_container_port_name"], regex: "admin", action: "keep" },
    { source_labels: ["__meta_kubernetes_pod_label_app_kubernetes_io_name"], target_label: "job" },
    { source_labels: ["__meta_kubernetes_pod_name"], target_label: "instance" },
  ]);
});

test("in Kubernetes Prometheus scrapes each database's exporter, with the cluster's name as the job", () => {
  const { scrape_configs: inCluster } = readYaml("infra/observability/prometheus-kubernetes.yml") as {
    readonly scrape_configs: readonly { readonly job_name: string; readonly relabel_configs: readonly object[] }[];
  };
  expect(inCluster.find(({ job_name: name }) => name === "databases")?.relabel_configs).toEqual([
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
      readonly pipelines: Readonly<Record<string, Record<"receivers" | "processors" | "exporters", readonly string[]>>>;
    };
  };
  for (const pipeline of Object.values(collector.service.pipelines))
    for (const part of ["receivers", "processors", "exporters"] as const)
      expect(Object.keys(collector[part])).toEqual(expect.arrayContaining([...pipeline[part]]));
  expect(collector.receivers).toEqual({ otlp: { protocols: { http: { endpoint: "0.0.0.0:4318" } } } });
});
