// Starts Debian's nginx and Varnish in front of a gateway and a REST proxy, as docs/cdn.md describes.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "../../kit/src/process/free-port.ts";
import { launch } from "../../kit/src/testing/processes/launched-process.ts";

export interface CachedEndpoints {
  readonly gatewayUrl: string;
  readonly proxyUrl: string;
}

export interface HttpCache {
  readonly url: string;
  stop(): Promise<void>;
}

type StartCache = (program: string, endpoints: CachedEndpoints) => Promise<HttpCache>;

const recipesFile = fileURLToPath(new URL("../../docs/cdn.md", import.meta.url));
const vclFolder = fileURLToPath(new URL("../../infra/purger/varnish", import.meta.url));

/** Undefined if it is not installed. Debian has both in /usr/sbin, which is not in the PATH of every user. */
export function findCacheProgram(name: "nginx" | "varnishd"): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** With the configuration of docs/cdn.md, and compression. */
export const startNginx: StartCache = async (program, { gatewayUrl, proxyUrl }) => {
  const folder = mkdtempSync(join(tmpdir(), "nginx-"));
  const port = await pickFreePort();
  const recipe = readRecipe()
    .replace("/var/cache/nginx/tributary", join(folder, "cache"))
    .replace("listen 80;", `listen 127.0.0.1:${port};\n  gzip on;\n  gzip_types application/json;`)
    .replace("http://gateway:4000", gatewayUrl)
    .replace("http://rest-proxy:4010", proxyUrl);
  const tempPaths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  const main = `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}`;
  writeFileSync(join(folder, "nginx.conf"), `${main} http { access_log off; ${tempPaths.join(" ")}\n${recipe} }`);
  return startCache(program, ["-e", "stderr", "-c", join(folder, "nginx.conf")], port, folder);
};

function readRecipe(): string {
  const recipe = /```nginx\n(.*?)```/s.exec(readFileSync(recipesFile, "utf8"))?.[1];
  if (recipe === undefined) throw new Error(`${recipesFile} has no configuration of nginx`);
  return recipe;
}

/** With the rules of infra/purger/varnish. @param purgeToken undefined: purges need none. */
export async function startVarnish(
  program: string,
  { gatewayUrl, proxyUrl }: CachedEndpoints,
  purgeToken?: string,
): Promise<HttpCache> {
  const folder = mkdtempSync(join(tmpdir(), "varnish-"));
  const port = await pickFreePort();
  const backends = [
    toBackend("gateway", gatewayUrl),
    toBackend("rest_proxy", proxyUrl),
    'acl purgers { "127.0.0.1"; }\n',
  ];
  mkdirSync(join(folder, "rules"));
  writeFileSync(join(folder, "rules/backends.vcl"), backends.join(""));
  const args = ["-F", "-j", "none", "-n", join(folder, "work"), "-a", `127.0.0.1:${port}`, "-s", "default,64m"];
  const rules = ["-p", `vcl_path=${folder}/rules:${vclFolder}`, "-f", join(vclFolder, "varnish.vcl")];
  const environment = purgeToken === undefined ? {} : { PURGE_TOKEN: purgeToken };
  return startCache(program, [...args, ...rules], port, folder, environment);
}

function toBackend(name: string, url: string): string {
  const { hostname, port } = new URL(url);
  return `backend ${name} { .host = "${hostname}"; .port = "${port}"; }\n`;
}

async function startCache(
  program: string,
  args: readonly string[],
  port: number,
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<HttpCache> {
  const url = `http://127.0.0.1:${port}`;
  const launched = launch({ program, args, environment });
  const stop = async () => {
    await launched.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await launched.untilReady(url);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}
