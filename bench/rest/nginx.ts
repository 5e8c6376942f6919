import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Installs Debian's nginx if it is missing. Returns why the installation failed; undefined if nginx is installed. */
export function installNginx(): string | undefined {
  if (readNginxVersion() !== undefined) return undefined;
  console.log("Installing nginx with apt-get.");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, error } = spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "nginx-light"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status === 0 && readNginxVersion() !== undefined) return undefined;
  return `apt-get install nginx-light failed (${error?.message ?? `exit code ${status}`})`;
}

/** Returns a version such as `1.22.1`; undefined if nginx is not installed. */
export function readNginxVersion(): string | undefined {
  const { stderr } = spawnSync("nginx", ["-v"], { encoding: "utf8" });
  return /nginx\/([\d.]+)/.exec(stderr ?? "")?.[1];
}

export interface NginxOptions {
  readonly folder: string;
  readonly port: number;
  readonly originPort: number;
  readonly caches: boolean;
}

/** Configures one process, as the Node contenders are one, with keep-alive to the origin and no access log. Returns the path of the file. */
export function writeNginxConfig({ folder, port, originPort, caches }: NginxOptions): string {
  const cachePath = `proxy_cache_path ${join(folder, "cache")} keys_zone=responses:10m inactive=1h use_temp_path=off;`;
  const cacheUse =
    "proxy_cache responses; proxy_cache_revalidate on; proxy_cache_lock on; add_header X-Cache-Status $upstream_cache_status;";
  const text = `
    daemon off;
    master_process off;
    pid ${join(folder, "nginx.pid")};
    error_log stderr error;
    events { worker_connections 1024; }
    http {
      access_log off;
      keepalive_requests 1000000000;
      client_body_temp_path ${folder}; proxy_temp_path ${folder};
      ${caches ? cachePath : ""}
      upstream origin { server 127.0.0.1:${originPort}; keepalive 64; keepalive_requests 1000000000; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://origin/rest/;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          ${caches ? cacheUse : ""}
        }
      }
    }`;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "nginx.conf");
  writeFileSync(file, text);
  return file;
}
