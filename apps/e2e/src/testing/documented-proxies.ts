import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProxyKind } from "./debian-proxy.ts";

const root = join(import.meta.dirname, "../../../..");
const [certificate, key] = ["pem", "key"].map((ending) => join(root, "tools/certificates", `localhost.${ending}`));
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** The whole files of `docs/service`, with the name, ports and certificate of a test. */
export const documentedProxies: readonly ProxyKind[] = [
  {
    name: "nginx",
    file: "docs/service/nginx.conf",
    scheme: "https",
    config({ own, upstream }, folder) {
      const site = read("docs/service/nginx.conf")
        .replace(/^\s*listen \[::\].*$/gm, "")
        .replace("listen 443", `listen 127.0.0.1:${String(own)}`)
        .replace("listen 80", `listen unix:${folder}/plain.sock`)
        .replaceAll("shoal.example", "localhost")
        .replace("127.0.0.1:7777", `127.0.0.1:${String(upstream)}`)
        .replace(/\S+fullchain\.pem/, String(certificate))
        .replace(/\S+privkey\.pem/, String(key));
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      return `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {} http { access_log off; ${paths.join(" ")}\n${site}}`;
    },
    args: (config, folder) => ["-c", config, "-p", folder, "-e", "stderr"],
  },
  {
    name: "caddy",
    file: "docs/service/Caddyfile",
    scheme: "https",
    config({ own, upstream }) {
      const site = read("docs/service/Caddyfile")
        .replace(
          /^shoal\.example \{$/m,
          `https://localhost:${String(own)} {\n\tbind 127.0.0.1\n\ttls ${String(certificate)} ${String(key)}`,
        )
        .replace("127.0.0.1:7777", `127.0.0.1:${String(upstream)}`);
      return `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`;
    },
    args: (config) => ["run", "--config", config, "--adapter", "caddyfile"],
  },
];
