import { Shoal } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { chromium } from "playwright-core";
import { certificate } from "../testing/certificate.ts";
import { freePort } from "../testing/free-port.ts";
import type { Way } from "./way.ts";

const operating = "docs/operating.md";

/** An engineer who serves others: TLS by nginx, a session through it, a backup, and a restore elsewhere. */
export async function platformEngineer(way: Way): Promise<void> {
  setDefaultCACertificates([...getCACertificates("default"), certificate]);
  const secure = await freePort();
  const publicUrl = `https://localhost:${String(secure)}`;
  const env = {
    SHOAL_DATA_DIR: join(way.home, "data"),
    SHOAL_PUBLIC_URL: publicUrl,
    SHOAL_TRUSTED_PROXIES: "127.0.0.1,::1",
  };
  const service = await way.serve("./shoal serve", env);
  const nginx = await way.step("nginx with docs/service/nginx.conf", () =>
    startNginx(way, { secure, upstream: service.base_url }),
  );
  try {
    const shoal = new Shoal({ baseUrl: publicUrl, apiKey: service.api_key });
    await way.step("a session through TLS", async () => {
      await using browser = await shoal.browsers.create({});
      const connected = await chromium.connectOverCDP(browser.cdp_ws_url);
      const page = await connected.newPage();
      await page.setContent("<title>through TLS</title>");
      if (!browser.cdp_ws_url.startsWith("wss://localhost:") || (await page.title()) !== "through TLS")
        throw new Error(`The session is at ${new URL(browser.cdp_ws_url).origin}.`);
      await connected.close();
    });
    await shoal.profiles.create({ name: "kept" });
  } finally {
    nginx.kill();
  }
  const [backup, restored] = [join(way.home, "shoal.backup"), join(way.home, "restored")];
  await way.step("npm run pack, and install", async () => {
    await way.run(
      `npm run pack -- ${join(way.home, "packages")} && npm install --global ${join(way.home, "packages")}/*.tgz`,
    );
  });
  await way.step(`$ shoal-server backup, while it runs (${operating})`, () =>
    way.run(`shoal-server backup ${backup} --data-dir ${env.SHOAL_DATA_DIR}`),
  );
  await way.step("the service stops", () => way.stopServices());
  await way.step(`$ shoal-server restore (${operating})`, () =>
    way.run(`shoal-server restore ${backup} --data-dir ${restored}`),
  );
  const again = await way.serve("shoal serve", { SHOAL_DATA_DIR: restored });
  await way.step("the profile is there", async () => {
    await new Shoal({ baseUrl: again.base_url, apiKey: service.api_key }).profiles.get("kept");
  });
}

async function startNginx(
  way: Way,
  { secure, upstream }: { readonly secure: number; readonly upstream: string },
): Promise<ChildProcess> {
  const certificates = join(way.clone, "tools/certificates");
  const site = readFileSync(join(way.clone, "docs/service/nginx.conf"), "utf8")
    .replace(/^\s*listen \[::\].*$/gm, "")
    .replace("listen 443", `listen 127.0.0.1:${String(secure)}`)
    .replace("listen 80", `listen 127.0.0.1:${String(await freePort())}`)
    .replaceAll("shoal.example", "localhost")
    .replace("127.0.0.1:7777", new URL(upstream).host)
    .replace(/\S+fullchain\.pem/, join(certificates, "localhost.pem"))
    .replace(/\S+privkey\.pem/, join(certificates, "localhost.key"));
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${way.home};`);
  const file = join(way.home, "nginx.conf");
  const http = `access_log off; ${paths.join(" ")} include ${way.home}/site.conf;`;
  writeFileSync(join(way.home, "site.conf"), site);
  writeFileSync(file, `daemon off; pid ${way.home}/nginx.pid; error_log stderr; events {} http { ${http} }`);
  const nginx = spawn("nginx", ["-e", "stderr", "-p", way.home, "-c", file], { stdio: ["ignore", "ignore", "pipe"] });
  let problem = "";
  nginx.on("error", (error) => (problem = String(error)));
  nginx.stderr.setEncoding("utf8").on("data", (text: string) => (problem += text));
  await eventually("nginx answers", async () => {
    if (problem !== "") throw new Error(problem);
    return fetch(`https://localhost:${String(secure)}/health`).then(
      (answer) => answer.ok,
      () => false,
    );
  });
  return nginx;
}
