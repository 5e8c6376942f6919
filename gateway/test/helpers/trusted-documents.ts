import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Dispatcher, request } from "undici";
import { onTestFinished } from "vitest";
import { type GatewayTestOptions, type RunningGateway, readGraphqlResponse, startGateway } from "./gateway.ts";

export interface BundleEntry {
  readonly id?: string;
  readonly text: string;
  readonly operations?: readonly string[];
  readonly client?: string;
  readonly file?: string;
  readonly until?: string;
}

export interface TrustedPlatform {
  readonly gateway: RunningGateway;
  readonly bundleFile: string;
  writeBundle(entries: readonly BundleEntry[]): void;
  /** @param more further keys of `documents`. */
  writeMode(mode: string, more?: string): void;
  post(body: object, headers?: Record<string, string>): Promise<Result>;
  get(path: string, headers?: Record<string, string>, method?: Dispatcher.HttpMethod): Promise<Result>;
}

type Result = Awaited<ReturnType<typeof readGraphqlResponse>>;

export function toBundle(entries: readonly BundleEntry[]): string {
  const documents = entries.map((entry) => ({
    operations: [...entry.text.matchAll(/(?:query|mutation) (\w+)/g)].map(([, name]) => name),
    client: "web",
    owner: "@acme/web-team",
    file: "clients/web/1.json",
    ...entry,
  }));
  return JSON.stringify({ format: "tributary-documents", version: 1, documents });
}

/** A gateway with registered documents, which are loaded. Stopped after the test. */
export async function startTrustedGateway(
  mode: string,
  entries: readonly BundleEntry[],
  o: GatewayTestOptions,
): Promise<TrustedPlatform> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-documents-"));
  const settingsFile = join(folder, "gateway.yaml");
  const bundleFile = join(folder, "documents.json");
  const replace = (file: string, text: string) => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const writeBundle = (list: readonly BundleEntry[]) => replace(bundleFile, toBundle(list));
  const writeMode = (to: string, more = "") =>
    replace(settingsFile, `documents: { mode: ${to}, file: ${bundleFile}${more} }`);
  writeBundle(entries);
  writeMode(mode);
  const gateway = await startGateway({ ...o, environment: { SETTINGS_FILE: settingsFile, ...o.environment } });
  onTestFinished(async () => {
    await gateway.drain();
    rmSync(folder, { recursive: true });
  });
  await gateway.seen("documents-loaded");
  return {
    gateway,
    bundleFile,
    writeBundle,
    writeMode,
    post: async (body, headers = {}) =>
      readGraphqlResponse(
        await fetch(`${gateway.url}/graphql`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body),
        }),
      ),
    // No header of Fetch Metadata, which would pass the check against CSRF.
    get: async (path, headers = {}, method = "GET") => {
      const {
        statusCode,
        headers: received,
        body,
      } = await request(`${gateway.url}${path}`, { method: method, headers });
      const text = await body.text();
      const status = statusCode;
      return {
        status,
        text,
        body: text === "" ? undefined : JSON.parse(text),
        headers: new Headers(Object.entries(received).map(([name, value]) => [name, String(value)])),
      };
    },
  };
}
