import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ContenderContext } from "./contender.ts";

/** Returns a version such as `1.22.1`; undefined if nginx is not installed. */
export function readNginxVersion(): string | undefined {
  const { stderr } = spawnSync("nginx", ["-v"], { encoding: "utf8" });
  return /nginx\/([\d.]+)/.exec(stderr ?? "")?.[1];
}

/** Configures nginx with one process, like the Node contenders, keep-alive to the origin and no access log. Returns the path of the file. */
export function writeNginxConfig(
  { folder, port, originUrl }: ContenderContext,
  { caches }: { readonly caches: boolean },
): string {
  // For the contender that caches: a directive of `http`, and directives of `location`.
  const cachePath = `proxy_cache_path ${join(folder, "cache")} keys_zone=responses:10m inactive=1h use_temp_path=off;`;
  const cacheUse =
    "proxy_cache responses; proxy_cache_revalidate on; proxy_cache_lock on; add_header X-Cache-Status $upstream_cache_status;";
  const config = `
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
      upstream origin { server ${new URL(originUrl).host}; keepalive 64; keepalive_requests 1000000000; }
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
  const file = join(folder, "nginx.conf");
  writeFileSync(file, config);
  return file;
}
