import { eventually } from "@shoal/testkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "./free-port.ts";

/** A Debian reverse proxy with upstream keep-alive connections. */
export interface DebianProxy extends AsyncDisposable {
  readonly baseUrl: string;
}

export interface ProxyKind {
  readonly name: "caddy" | "haproxy" | "nginx";
  /** The page with its configuration. */
  readonly file?: string;
  readonly scheme?: "https";
  readonly config: (ports: { readonly own: number; readonly upstream: number }, folder: string) => string;
  readonly args: (configPath: string, folder: string) => readonly string[];
}

/** Each is configured as its manual says for WebSockets and upstream keep-alive, which Caddy has in its documented file. */
export const debianProxies: readonly ProxyKind[] = [
  {
    name: "haproxy",
    // In the defaults, because the frontend needs abortonclose too: without it, requests outlive their callers.
    config: ({ own, upstream }) => `defaults
  mode http
  option abortonclose
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout tunnel 1h
frontend outside
  bind 127.0.0.1:${String(own)}
  default_backend service
backend service
  http-reuse always
  server shoal 127.0.0.1:${String(upstream)}
`,
    args: (config) => ["-db", "-f", config],
  },
  {
    name: "nginx",
    config: ({ own, upstream }, folder) => `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream shoal {
    server 127.0.0.1:${String(upstream)};
    keepalive 8;
  }
  map $http_upgrade $connection_upgrade {
    default upgrade;
    '' '';
  }
  server {
    listen 127.0.0.1:${String(own)};
    location / {
      proxy_pass http://shoal;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_buffering off;
    }
  }
}
`,
    args: (config, folder) => ["-c", config, "-p", folder, "-e", "stderr"],
  },
];

/** The path of a proxy's program; `undefined` if not installed. */
export function programOf({ name }: ProxyKind): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export async function startDebianProxy(kind: ProxyKind, upstream: string): Promise<DebianProxy> {
  const folder = mkdtempSync(join(tmpdir(), `shoal-${kind.name}-`));
  const own = await freePort();
  const configPath = join(folder, "config");
  writeFileSync(configPath, kind.config({ own, upstream: Number(new URL(upstream).port) }, folder));
  const child = spawn(programOf(kind) ?? kind.name, kind.args(configPath, folder), {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let printed = "";
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const exited = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually(`${kind.name} listens`, async () => {
      if (child.exitCode !== null) throw new Error(`${kind.name} ended: ${printed}`);
      return listens(own);
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const baseUrl = kind.scheme === "https" ? `https://localhost:${String(own)}` : `http://127.0.0.1:${String(own)}`;
  return { baseUrl, [Symbol.asyncDispose]: stop };
}
